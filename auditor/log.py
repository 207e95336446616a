"""The log itself, as a plain consumer sees it: its newest record, and a stretch of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from zklake.errors import LogError
from zklake.events.topics import name_topics

# One line per attempt to connect would be written; what matters reaches the caller as an error.
_QUIET = logging.getLogger("zklake.librdkafka")
_QUIET.setLevel(logging.CRITICAL + 1)
_PATIENCE_S = 60.0
_CHUNK = 5000
# Brokers that come back, and the group's coordinator, whom the client looks for and nobody needs.
_PASSING = frozenset(
    (
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
    )
)


class Head(msgspec.Struct):
    """Of a record of any version, only this."""

    seq: int
    op: str
    log_id: str
    observed_at_ms: int
    path: str | None = None


class Record(NamedTuple):
    """A committed record; `head` is None where it is no event."""

    offset: int
    head: Head | None


class LogReader:
    """The one partition of a cluster's log, read_committed."""

    def __init__(self, consumer: Consumer, where: str, topic: str) -> None:
        self.where = where
        self._consumer, self._topic = consumer, topic

    def find_bounds(self) -> tuple[int, int]:
        """The first offset, and the one behind the last."""
        try:
            partition = TopicPartition(self._topic, 0)
            return self._consumer.get_watermark_offsets(partition, timeout=_PATIENCE_S)
        except KafkaException as error:
            raise LogError(f"{self.where} cannot be read: {error.args[0].str()}") from error

    def find_newest_ms(self) -> int:
        """The watcher's clock at its newest record: of what it saw before, all is in the log."""
        low, high = self.find_bounds()
        back = 100
        while True:
            first = max(low, high - back)
            heads = [record.head for record in self.read(first, high - 1) if record.head]
            if heads:
                return heads[-1].observed_at_ms
            if first == low:
                raise LogError(f"{self.where} holds no event")
            back *= 10

    def read(self, first: int, last: int) -> Iterator[Record]:
        """Every committed record from one offset to another; ends of transactions are none."""
        if first > last:
            return
        self._consumer.assign([TopicPartition(self._topic, 0, first)])
        try:
            for message in self._consume():
                if (offset := message.offset() or 0) > last:
                    return
                yield Record(offset, _read_head(message.value() or b""))
                if offset == last:
                    return
        finally:
            self._consumer.unassign()

    def _consume(self) -> Iterator[Message]:
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            for message in self._consumer.consume(_CHUNK, 1.0):
                error = message.error()
                if error is None:
                    deadline = time.monotonic() + _PATIENCE_S
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                elif error.code() not in _PASSING and not error.retriable():
                    raise LogError(f"{self.where} cannot be read: {error.str()}")
        raise LogError(f"{self.where} did not answer for {_PATIENCE_S:.0f} s")


def _read_head(value: bytes) -> Head | None:
    try:
        return msgspec.json.decode(value, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@contextmanager
def open_log(bootstrap: str, client: Mapping[str, str], cluster: str) -> Iterator[LogReader]:
    """A consumer that commits nothing."""
    topic = name_topics(cluster).events
    consumer = Consumer(
        {
            "fetch.wait.max.ms": 50,
            **client,
            "bootstrap.servers": bootstrap,
            "group.id": "zklake.reader",  # asked for by the client, used for nothing
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        },
        logger=_QUIET,
    )
    try:
        yield LogReader(consumer, f"topic {topic} on {bootstrap}", topic)
    finally:
        consumer.close()
