"""Groups that commit to real brokers: raw OffsetCommit requests, many under way at once.

As simple consumers do (generation -1, no member id). Knows nothing of the watcher.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple, Self

from confluent_kafka import KafkaError

from lab.wire import TIMEOUT_S, Connection, frame, pack_string
from zklake.errors import LabError

_OFFSET_COMMIT, _OFFSET_COMMIT_VERSION = 8, 5
_FIND_COORDINATOR, _FIND_COORDINATOR_VERSION = 10, 0
_NO_GENERATION = -1
# A broker answers one request of a connection after the other: several keep its threads busy.
_CONNECTIONS_PER_BROKER = 4
# What is sent before the answers are read: below what socket buffers hold, in both directions.
_IN_FLIGHT = 100
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: just made, or moved.
_PASSING = frozenset((14, 15, 16))
_PAUSE_S = 0.2


class CommittingGroup(NamedTuple):
    """A group and the partitions of one topic that it commits."""

    group_id: str
    topic: str
    partitions: tuple[int, ...]

    def pack(self, offset: int) -> bytes:
        """Its OffsetCommit request: this offset for each of its partitions, without metadata."""
        count = len(self.partitions)
        each = chain.from_iterable((p, offset, 0) for p in self.partitions)
        body = (
            pack_string(self.group_id)
            + struct.pack(">i", _NO_GENERATION)
            + pack_string("")
            + struct.pack(">i", 1)
            + pack_string(self.topic)
            + struct.pack(">i" + "iqh" * count, count, *each)
        )
        return frame(_OFFSET_COMMIT, _OFFSET_COMMIT_VERSION, body)

    def read_error(self, answer: bytes) -> int:
        """The first error in the answer to it, or 0."""
        # Throttle time and the number of topics, the topic, the number of partitions.
        at = 4 + 4 + len(pack_string(self.topic)) + 4
        errors = struct.unpack_from(">" + "ih" * len(self.partitions), answer, at)[1::2]
        return next(filter(None, errors), 0)


class Committers:
    """All groups, spread over connections to their coordinators."""

    def __init__(
        self, address: str, groups: Sequence[CommittingGroup], offsets_partitions: int
    ) -> None:
        """`address` of any broker; the coordinators are asked for, one per offsets partition."""
        by_address: dict[str, list[CommittingGroup]] = {}
        for part in _deal(groups, offsets_partitions):
            coordinator = find_coordinator(address, part[0].group_id)
            by_address.setdefault(coordinator, []).extend(part)
        self._lanes = [
            (Connection(at), mine[first::_CONNECTIONS_PER_BROKER])
            for at, mine in by_address.items()
            for first in range(_CONNECTIONS_PER_BROKER)
        ]
        self._pool = ThreadPoolExecutor(len(self._lanes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of: object) -> None:
        self._pool.shutdown()
        for connection, _ in self._lanes:
            connection.close()

    def commit(self, offset: int) -> float:
        """Every group commits this offset; the seconds until the last was answered."""
        began = time.monotonic()
        list(self._pool.map(lambda lane: _commit(lane[0], lane[1], offset), self._lanes))
        return time.monotonic() - began


def _commit(connection: Connection, groups: Sequence[CommittingGroup], offset: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    for first in range(0, len(groups), _IN_FLIGHT):
        waiting = groups[first : first + _IN_FLIGHT]
        while waiting:
            answers = connection.ask([group.pack(offset) for group in waiting])
            pairs = zip(waiting, answers, strict=True)
            errors = [(group, group.read_error(answer)) for group, answer in pairs]
            waiting = [group for group, error in errors if error]
            if refused := [error for _, error in errors if error]:
                _wait_or_raise(refused, deadline, "an offset commit")


def find_coordinator(address: str, group_id: str) -> str:
    """The address of a group's coordinator; asking for the first one makes the offsets topic."""
    connection, deadline = Connection(address), time.monotonic() + TIMEOUT_S
    request = frame(_FIND_COORDINATOR, _FIND_COORDINATOR_VERSION, pack_string(group_id))
    try:
        while True:
            (answer,) = connection.ask([request])
            error, _, length = struct.unpack_from(">hih", answer)
            if not error:
                host = answer[8 : 8 + length].decode()
                return f"{host}:{struct.unpack_from('>i', answer, 8 + length)[0]}"
            _wait_or_raise([error], deadline, f"to name the coordinator of {group_id}")
    finally:
        connection.close()


def find_partition(group_id: str, offsets_partitions: int) -> int:
    """The partition of `__consumer_offsets` that holds a group: by Java's hash of its id."""
    number = 0
    for character in group_id.encode("ascii"):
        number = (31 * number + character) & 0xFFFFFFFF
    signed = number - (1 << 32) if number >= 1 << 31 else number
    return abs(signed) % offsets_partitions


def _deal(
    groups: Sequence[CommittingGroup], offsets_partitions: int
) -> list[list[CommittingGroup]]:
    parts: dict[int, list[CommittingGroup]] = {}
    for group in groups:
        partition = find_partition(group.group_id, offsets_partitions)
        parts.setdefault(partition, []).append(group)
    return list(parts.values())


def _wait_or_raise(errors: Sequence[int], deadline: float, what: str) -> None:
    if time.monotonic() > deadline or not _PASSING.issuperset(errors):
        raise LabError(f"the broker refused {what}: {KafkaError(errors[0]).str()}")
    time.sleep(_PAUSE_S)
