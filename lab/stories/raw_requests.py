"""Requests that confluent-kafka has no call for, spoken to one broker byte by byte.

Knows Kafka's wire format as far as two requests need it, and nothing of stories.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError

from lab.wire import Connection, frame, pack_string
from zklake.errors import LabError

_ALTER_REASSIGNMENTS, _ALTER_QUOTAS = 45, 49
_TIMEOUT_S = 30.0
_NO_TAGS = b"\0"


def alter_reassignment(
    address: str, topic: str, partition: int, replicas: Sequence[int] | None
) -> None:
    """Ask the controller to move one partition (AlterPartitionReassignments v0, KIP-455)."""
    one = struct.pack(">i", partition) + _pack_array(replicas) + _NO_TAGS
    of_topic = _pack_text(topic) + b"\2" + one + _NO_TAGS
    body = struct.pack(">i", int(_TIMEOUT_S * 1000)) + b"\2" + of_topic + _NO_TAGS
    answer = _ask(address, _ALTER_REASSIGNMENTS, _NO_TAGS + body)
    # Tags and throttle time, an error of the whole, its text, then the topic's name and the
    # partition's number before its own error; with one topic and one partition nothing moves.
    (error,) = struct.unpack_from(">h", answer, 5)
    if not error:
        (error,) = struct.unpack_from(">h", answer, 5 + 2 + 1 + 1 + len(_pack_text(topic)) + 1 + 4)
    _refuse(error, f"to move {topic}-{partition} to {replicas}")


def alter_quotas(
    address: str, entity_type: str, entity: str, changes: Mapping[str, float | None]
) -> None:
    """Set quotas of one entity, or remove those that are None (AlterClientQuotas v0, KIP-546)."""
    named = struct.pack(">i", 1) + pack_string(entity_type) + pack_string(entity)
    ops = [
        pack_string(key) + struct.pack(">d?", value or 0.0, value is None)
        for key, value in changes.items()
    ]
    entries = struct.pack(">i", 1) + named + struct.pack(">i", len(ops)) + b"".join(ops)
    answer = _ask(address, _ALTER_QUOTAS, entries + b"\0")
    # Throttle time and the count of entries stand before the first one's error.
    (error,) = struct.unpack_from(">h", answer, 8)
    _refuse(error, f"to set {dict(changes)} of {entity_type} {entity}")


def _ask(address: str, api_key: int, body: bytes) -> bytes:
    """One request of version 0; returns the answer after its correlation id."""
    with Connection(address, _TIMEOUT_S) as connection:
        (answer,) = connection.ask([frame(api_key, 0, body)])
    return answer


def _pack_text(text: str) -> bytes:
    """A string of the compact form; a length below 127 takes one byte."""
    data = text.encode()
    if len(data) > 126:
        raise LabError(f"{text!r} is too long for the lab's own requests: at most 126 bytes")
    return bytes([len(data) + 1]) + data


def _pack_array(numbers: Sequence[int] | None) -> bytes:
    """Integers of the compact form; none at all means: call the move off."""
    if numbers is None:
        return b"\0"
    return bytes([len(numbers) + 1]) + struct.pack(f">{len(numbers)}i", *numbers)


def _refuse(error: int, what: str) -> None:
    if error:
        raise LabError(f"the broker refused {what}: {KafkaError(error).str()}")
