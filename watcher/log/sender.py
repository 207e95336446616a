"""Puts a batch's records into the open transaction and sees them delivered. Commits nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from watcher.log.batch import Batch
from watcher.log.verdict import AbortNeeded, judge_delivery
from zklake.errors import LogError
from zklake.events.envelope import META_KEY, encode
from zklake.events.topics import Topics

# Records unanswered for so long: Kafka counts as away.
AWAY_AFTER_S = 5.0

Record = tuple[bytes | None, bytes | None]
Report = Callable[[KafkaError | None, Message], None]


class Sender:
    """Sends batches; remembers the offsets they got, also across producers."""

    def __init__(
        self,
        topics: Topics,
        *,
        check_stop: Callable[[], None],
        on_slow: Callable[[str], None],
    ) -> None:
        self._topics = topics
        self._check_stop = check_stop
        self._on_slow = on_slow
        self._offsets: dict[str, list[int]] = {}
        self._failure: KafkaError | None = None
        self._ends: dict[str, int] = {}

    def send(self, producer: Producer, batch: Batch) -> None:
        """Return once Kafka holds every record; raises AbortNeeded, LostTrack or LogError."""
        self._offsets.clear()
        self._failure = None
        self._produce(producer, self._topics.events, [(None, event) for event in batch.events])
        self._produce(producer, self._topics.tree, list_tree(batch))
        self._deliver(producer)
        self._refuse_other_topic()

    def _produce(self, producer: Producer, topic: str, records: list[Record]) -> None:
        # A report for the first and the last is enough: commit fails when any record failed.
        reported = {0, len(records) - 1}
        for index, record in enumerate(records):
            report = self._report if index in reported else None
            while not _enqueue(producer, topic, record, report):
                self._serve(producer, 0.1)

    def _deliver(self, producer: Producer) -> None:
        started_at = time.monotonic()
        while self._serve(producer, 1.0):
            if time.monotonic() - started_at > AWAY_AFTER_S:
                self._on_slow("records stay unanswered")
        # Purged: the transaction has failed before, and its commit says why.
        if self._failure is not None and self._failure.code() != KafkaError._PURGE_QUEUE:
            raise judge_delivery(self._failure)

    def _serve(self, producer: Producer, timeout_s: float) -> int:
        """Let reports come in; returns how many are outstanding."""
        self._check_stop()
        try:
            return producer.flush(timeout_s)
        except (KafkaException, SystemError) as error:
            # SystemError: confluent-kafka calls back with the fatal error already raised.
            raise AbortNeeded(str(error)) from error

    def _report(self, error: KafkaError | None, message: Message) -> None:
        topic, offset = message.topic(), message.offset()
        if error is not None:
            self._failure = error
        elif topic is not None and offset is not None:
            self._offsets.setdefault(topic, []).append(offset)

    def _refuse_other_topic(self) -> None:
        """Offsets that went back mean another topic of the same name: it lacks the rows before."""
        for topic, offsets in self._offsets.items():
            end = self._ends.get(topic, -1)
            if min(offsets) <= end:
                raise LogError(
                    f"topic {topic} went back from offset {end} to {min(offsets)}: it was "
                    f"re-created or cut while being written; start the watcher again"
                )
            self._ends[topic] = max(offsets)


def list_tree(batch: Batch) -> list[Record]:
    """The tree topic's records, keys as bytes: a stranger's may be no text (see resume.py)."""
    rows: list[Record] = [
        (path.encode(errors="surrogateescape"), None if row is None else encode(row))
        for path, row in batch.rows.items()
    ]
    return rows if batch.meta is None else [*rows, (META_KEY.encode(), encode(batch.meta))]


def _enqueue(producer: Producer, topic: str, record: Record, report: Report | None) -> bool:
    key, value = record
    try:
        producer.produce(topic, value, key, partition=0, on_delivery=report)
    except BufferError:
        return False
    except KafkaException as error:
        # Else the transaction has already failed, or we are fenced; the abort shows which.
        raise judge_delivery(error.args[0]) from error
    return True
