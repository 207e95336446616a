"""The values in the log's two topics: found, and removed in the ways that Kafka has.

Of the event topic only a beginning can be deleted. What goes must be in the lake already, and a
complete look at the tree must lie behind it: then nothing is lost, and a new lake can still begin.
The tree topic is compacted: it can only be deleted whole, and the next watcher fills it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from streaming.erasure.secret_values import SecretValues
from streaming.fold.frames import Frames
from streaming.log.identity import LIBRDKAFKA_LOGGER, make_reader_options
from zklake.errors import LogError
from zklake.events.envelope import decode
from zklake.events.topics import name_topics

PATIENCE_S = 60.0
# A living watcher writes a heartbeat each second.
_SILENCE_S = 3.0
_CHUNK = 10_000

T = TypeVar("T")


@dataclass(frozen=True)
class FoundRecords:
    """Records of one topic that hold one of the values."""

    topic: str
    count: int = 0
    # The offset of the last one.
    last: int = -1


class KafkaLog:
    """The two topics of a cluster."""

    def __init__(self, bootstrap: str, client: Mapping[str, str], cluster: str) -> None:
        self.topics = name_topics(cluster)
        self._bootstrap, self._client = bootstrap, client

    def find(self, topic: str, secrets: SecretValues) -> FoundRecords:
        """Where they stand in a topic, also in transactions that were aborted."""
        count, last = 0, -1
        for message in self._read(topic, 0, is_committed=False):
            if secrets.occur_in_record(message.value()) or secrets.occur_in_record(message.key()):
                count, last = count + 1, message.offset() or 0
        return FoundRecords(topic, count, last)

    def find_frame(self, after: int) -> tuple[int, int] | None:
        """The first complete look at the tree behind an offset: where it begins and ends."""
        frames, offsets = Frames(), dict[int, int]()
        for message in self._read(self.topics.events, after + 1, is_committed=True):
            try:
                event = decode(message.value() or b"")
            except msgspec.DecodeError:
                continue  # the stream quarantines it
            if event.frame is None:
                continue
            offsets[event.seq] = message.offset() or 0
            frames.follow(event)
            if frames.last_complete_begin >= 0:
                return offsets[frames.last_complete_begin], offsets[event.seq]
        return None

    def delete_before(self, offset: int) -> None:
        """Delete the beginning of the event topic."""
        partition = TopicPartition(self.topics.events, 0, offset)
        admin = self._open_admin()
        futures = admin.delete_records([partition], request_timeout=PATIENCE_S)
        self._await(futures[partition].result, f"delete records of {self.topics.events}")

    def delete_tree(self) -> None:
        """Delete the tree topic; a watcher that starts makes it anew, behind a declared gap."""
        admin = self._open_admin()
        futures = admin.delete_topics([self.topics.tree], operation_timeout=PATIENCE_S)
        self._await(futures[self.topics.tree].result, f"delete topic {self.topics.tree}")

    def refuse_living_watcher(self) -> None:
        """Raise while one is there: it would go on with a tree topic that is gone."""
        first = self._find_end()
        time.sleep(_SILENCE_S)
        if self._find_end() != first:
            raise LogError(
                f"a watcher is writing the log at {self._bootstrap}, and the value stands in names "
                f"of znodes: topic {self.topics.tree} must be made anew. Stop the watcher, run "
                "`zklake erase` again, and start it"
            )

    def _find_end(self) -> int:
        with closing(self._open_consumer("read_uncommitted")) as consumer:
            return self._find_bounds(consumer, self.topics.events)[1]

    def _find_bounds(self, consumer: Consumer, topic: str) -> tuple[int, int]:
        partition = TopicPartition(topic, 0)
        return self._await(
            lambda: consumer.get_watermark_offsets(partition, timeout=PATIENCE_S), f"read {topic}"
        )

    def _read(self, topic: str, offset: int, *, is_committed: bool) -> Iterator[Message]:
        level = "read_committed" if is_committed else "read_uncommitted"
        with closing(self._open_consumer(level)) as consumer:
            low, high = self._find_bounds(consumer, topic)
            if max(low, offset) >= high:
                return
            consumer.assign([TopicPartition(topic, 0, max(low, offset))])
            heard_at = time.monotonic()
            while True:
                for message in consumer.consume(_CHUNK, timeout=0.2):
                    heard_at = time.monotonic()
                    error = message.error()
                    if error is None:
                        yield message
                    elif error.code() == KafkaError._PARTITION_EOF:
                        return
                if time.monotonic() - heard_at > PATIENCE_S:
                    raise LogError(f"{self._bootstrap} did not answer for {PATIENCE_S:.0f} s")

    def _open_consumer(self, isolation: str) -> Consumer:
        options = make_reader_options(self._bootstrap, self._client)
        return Consumer({**options, "isolation.level": isolation}, logger=LIBRDKAFKA_LOGGER)

    def _open_admin(self) -> AdminClient:
        options: dict[str, str | int | float | bool] = {**self._client}
        options["bootstrap.servers"] = self._bootstrap
        return AdminClient(options, logger=LIBRDKAFKA_LOGGER)

    def _await(self, call: Callable[[], T], what: str) -> T:
        try:
            return call()
        except KafkaException as error:
            raise LogError(f"cannot {what} at {self._bootstrap}: {error.args[0].str()}") from error
