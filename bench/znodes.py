"""Paths and values as Kafka writes them, made up. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice

_PARTITIONS = 10


def list_tree(size: int) -> Iterator[tuple[str, bytes]]:
    """So many znodes of /brokers/topics with their values, parents first."""
    return islice(_grow(), size)


def list_states(size: int) -> list[str]:
    """The paths of so many partition states."""
    states = (path for path, _ in _grow() if path.endswith("/state"))
    return list(islice(states, size))


def make_state(number: int) -> bytes:
    """The value of a partition state."""
    return json.dumps(
        {
            "controller_epoch": 12,
            "leader": number % 6,
            "version": 1,
            "leader_epoch": number,
            "isr": [number % 6, (number + 1) % 6, (number + 2) % 6],
        },
        separators=(",", ":"),
    ).encode()


def _grow() -> Iterator[tuple[str, bytes]]:
    yield "/brokers", b""
    yield "/brokers/topics", b""
    replicas = {str(partition): [1, 2, 3] for partition in range(_PARTITIONS)}
    value = json.dumps({"version": 1, "partitions": replicas}, separators=(",", ":")).encode()
    for number in count():
        topic = f"/brokers/topics/payments.orders-{number:06}"
        yield topic, value
        yield f"{topic}/partitions", b""
        for partition in range(_PARTITIONS):
            yield f"{topic}/partitions/{partition}", b""
            yield f"{topic}/partitions/{partition}/state", make_state(partition)
