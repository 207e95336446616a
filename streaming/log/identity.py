"""Is the log still the one that the lake was folded from? Asked of Kafka before a query starts.

Spark would start at the lake's offset in whatever topic now bears the name.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streaming.lake.progress import LakeProgress
from zklake.errors import LakeError, LogError, OtherLog

PATIENCE_S = 5.0
# One line per attempt to connect would be written; what matters reaches the caller as an error.
LIBRDKAFKA_LOGGER = logging.getLogger("zklake.librdkafka")
LIBRDKAFKA_LOGGER.setLevel(logging.CRITICAL + 1)


class _Place(msgspec.Struct):
    """Of a record of any version, only this."""

    log_id: str
    seq: int


def make_reader_options(bootstrap: str, client: Mapping[str, str]) -> dict[str, str | int | bool]:
    """What a client needs that looks at the log beside Spark's."""
    return {
        "reconnect.backoff.max.ms": 1000,
        "fetch.wait.max.ms": 10,
        **client,
        "bootstrap.servers": bootstrap,
        "group.id": "zklake.reader",  # asked for by the client, used for nothing
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
    }


class LogPartition:
    """The log's only partition, as a read_committed consumer sees it."""

    def __init__(self, bootstrap: str, client: Mapping[str, str], topic: str) -> None:
        self.where = f"topic {topic} on {bootstrap}"
        self._topic = topic
        self._consumer = Consumer(make_reader_options(bootstrap, client), logger=LIBRDKAFKA_LOGGER)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._consumer.close()

    def find_bounds(self, timeout_s: float = PATIENCE_S) -> tuple[int, int]:
        """The first offset and the one after the last committed record."""
        try:
            partition = TopicPartition(self._topic, 0)
            return self._consumer.get_watermark_offsets(partition, timeout=timeout_s)
        except KafkaException as error:
            raise LogError(
                f"{self.where} cannot be read: {error.args[0].str()}. "
                "Is the log's Kafka up, and has `zklake watch` made the topic?"
            ) from error

    def read_at(self, offset: int) -> Message | None:
        """The record at this offset; None when there is a marker or nothing committed."""
        self._consumer.assign([TopicPartition(self._topic, 0, offset)])
        try:
            return self._poll_for(offset)
        finally:
            self._consumer.unassign()  # else it goes on fetching ahead

    def _poll_for(self, offset: int) -> Message | None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            message = self._consumer.poll(0.1)
            if message is None:
                continue
            error = message.error()
            if error is None:
                return message if message.offset() == offset else None
            if error.code() == KafkaError._PARTITION_EOF:
                return None
        raise LogError(f"{self.where} did not answer for {PATIENCE_S:.0f} s")


def check_log(partition: LogPartition, progress: LakeProgress, lake: str) -> None:
    """Refuse a log that is not the lake's, or that no longer holds what follows it."""
    low, high = partition.find_bounds()
    if progress.offset is None:
        return
    if progress.offset > high:
        raise _refuse(partition, progress, lake, f"it ends at offset {high}")
    if progress.offset < low:
        raise LakeError(
            f"{partition.where} no longer holds what follows offset {progress.offset - 1} of the "
            f"lake {lake}: it begins at {low}. Fold the log into a new lake (--lake), or restore "
            "the topic"
        )
    if progress.offset > low:
        _compare(partition, progress, lake)


def _compare(partition: LogPartition, progress: LakeProgress, lake: str) -> None:
    assert progress.offset is not None
    offset = progress.offset - 1
    message = partition.read_at(offset)
    if message is None:
        raise _refuse(partition, progress, lake, f"offset {offset} holds no record")
    try:
        place = msgspec.json.decode(message.value() or b"", type=_Place)
    except msgspec.DecodeError:
        return  # a bad record, as it was then
    is_same = progress.is_own or place.seq == progress.seq
    if place.log_id != progress.log_id or not is_same:
        found = f"offset {offset} holds seq {place.seq} of log {place.log_id}"
        raise _refuse(partition, progress, lake, found)


def _refuse(partition: LogPartition, progress: LakeProgress, lake: str, found: str) -> OtherLog:
    assert progress.offset is not None
    return OtherLog(
        f"the lake {lake} was folded from log {progress.log_id} up to seq {progress.seq} at offset "
        f"{progress.offset - 1}, but {partition.where} is another one: {found}. The log was "
        "re-created, or --log or --cluster is wrong. If it was re-created, `zklake stream "
        "--accept-log` goes on with the new one; else fold it into a new lake (--lake)"
    )


def accept_log(progress: LakeProgress) -> LakeProgress:
    """Where to start in a log that takes the place of the lake's."""
    return replace(
        progress, offset=None, read_offset=-1, read_seq=-1, quarantined_offset=-1, log_id=None
    )
