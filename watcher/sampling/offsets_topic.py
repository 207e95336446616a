"""`__consumer_offsets` of the watched cluster, consumed by a thread of its own into the thinner.

All partitions, from their beginnings, as no group and without commits. Only committed records
count: an offset sent in a transaction is none before its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from threading import Event, Lock, Thread
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as KafkaMessage

from watcher.log.clients import LIBRDKAFKA, consumer_config
from watcher.sampling.ends import OFFSETS_TOPIC
from watcher.sampling.thinning import Record, Taken, Thinner, decode_all
from zklake.events.samples import GroupReading
from zklake.name_patterns import Names

_CHUNK = 5000
_POLL_S = 0.25
_RETRY_S = 5.0
# What our principal may not read it will not be able to read a moment later.
_DENIED = frozenset(
    (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED)
)
# Kinder to brokers than our own readers: a broker holds an empty fetch for so long.
_GENTLE = {"fetch.wait.max.ms": 500, "queued.max.messages.kbytes": 16 * 1024}


class OffsetsTopic:
    """Follows the topic; what it comes to is taken by the sampler, once per interval."""

    def __init__(
        self,
        bootstrap: str,
        client: Mapping[str, Any],
        groups: Names,
        last_seq: Callable[[], int],
    ) -> None:
        self.denied: str | None = None
        self._config = consumer_config(bootstrap, {**_GENTLE, **client})
        self._groups = groups
        self._last_seq, self._since_seq = last_seq, last_seq()
        self._lock = Lock()
        self._thinner = Thinner()
        self._partitions: set[int] = set()
        self._known = False
        self._is_complete = False
        self._unreadable = 0
        self._trouble: str | None = "not read yet"
        self._stop = Event()
        self._thread = Thread(target=self._run, name="offsets-topic", daemon=True)
        self._thread.start()

    def expect(self, partitions: Collection[int]) -> None:
        """The topic has these partitions: none as long as no group has ever been."""
        with self._lock:
            self._partitions = set(partitions)
            self._known = True

    def take(self) -> tuple[Taken, GroupReading]:
        """What the interval came to, and how far that can be trusted."""
        with self._lock:
            records, seen = self._thinner.take()
            behind = sum(not self._thinner.is_caught_up(each) for each in self._partitions)
            # Once complete it stays so, also while partitions that were added are being read.
            self._is_complete |= self._known and not behind
            since_seq = self._since_seq if self._is_complete else None
        # Not under the lock: it takes a while, and the reader goes on meanwhile.
        taken = decode_all(records, seen, self._groups)
        self._unreadable += taken.unreadable
        return taken, GroupReading(
            source="offsets_topic",
            complete_since_seq=since_seq,
            partitions_behind=behind,
            commits_seen=seen,
            unreadable=self._unreadable,
            reason=self._trouble if self._partitions else None,
        )

    def emit_all(self) -> None:
        """The next take has all that stands."""
        with self._lock:
            self._thinner.emit_all()
            self._since_seq = self._last_seq()

    def close(self) -> None:
        """End the thread; it looks up every quarter of a second."""
        self._stop.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        while not self._stop.is_set() and self.denied is None:
            try:
                self._follow()
            except Exception as error:
                # Whatever it was: groups are unknown for a while, and everything else goes on.
                self._trouble = str(error)
                self._stop.wait(_RETRY_S)

    def _follow(self) -> None:
        """From the beginning: what stands is said again, and what was said only before is gone."""
        with self._lock:
            self._thinner = Thinner()
            self._since_seq, self._is_complete = self._last_seq(), False
        consumer = Consumer(self._config, logger=LIBRDKAFKA)
        try:
            assigned: set[int] = set()
            while not self._stop.is_set() and self.denied is None:
                fresh = self._partitions - assigned
                if fresh:
                    beginning = [
                        TopicPartition(OFFSETS_TOPIC, each, OFFSET_BEGINNING) for each in fresh
                    ]
                    consumer.incremental_assign(beginning)
                    assigned |= fresh
                if assigned:
                    self._take_in(consumer.consume(_CHUNK, _POLL_S))
                else:
                    time.sleep(_POLL_S)
        finally:
            consumer.close()

    def _take_in(self, messages: list[KafkaMessage]) -> None:
        with self._lock:
            for message in messages:
                error = message.error()
                if error is not None:
                    self._hear(error, message.partition())
                    continue
                key, partition = message.key(), message.partition()
                if key is not None and partition is not None:
                    record = Record(key, message.value(), message.timestamp()[1])
                    self._thinner.add(partition, record)
            if messages and messages[-1].error() is None:
                self._trouble = None

    def _hear(self, error: KafkaError, partition: int | None) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            assert partition is not None
            self._thinner.catch_up(partition)
            self._trouble = None
        elif error.code() in _DENIED:
            self.denied = error.str()
        elif error.fatal():
            raise KafkaException(error)
        elif error.code() != KafkaError.GROUP_AUTHORIZATION_FAILED:
            # Passing, and healed by the client; said as long as nothing better is heard.
            self._trouble = error.str()
