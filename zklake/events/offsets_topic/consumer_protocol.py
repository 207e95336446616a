"""What consumers put into a group's metadata: their subscription and assignment. Sans-IO.

Only the protocol type `consumer` writes this; Connect, schema registries and others have their own.
"""

from __future__ import annotations

from zklake.events.offsets_topic.wire import Malformed, Reader
from zklake.events.samples import TopicPartitions

CONSUMER = "consumer"


def read_subscription(data: bytes | None) -> tuple[str, ...] | None:
    """Topics subscribed to; None when the bytes are not a subscription."""
    reader = _open(data)
    if reader is None:
        return None
    try:
        # What follows (user data, owned partitions, generation, rack) is the assignor's business.
        return tuple(sorted(set(reader.array(reader.string))))
    except Malformed:
        return None


def read_assignment(data: bytes | None) -> tuple[TopicPartitions, ...] | None:
    """Partitions assigned; None when the bytes are not an assignment."""
    reader = _open(data)
    if reader is None:
        return () if data == b"" else None
    try:
        assigned = reader.array(lambda: (reader.string(), reader.array(reader.int32)))
    except Malformed:
        return None
    merged: dict[str, set[int]] = {}
    for topic, partitions in assigned:
        merged.setdefault(topic, set()).update(partitions)
    return tuple(TopicPartitions(topic, tuple(sorted(merged[topic]))) for topic in sorted(merged))


def _open(data: bytes | None) -> Reader | None:
    """At the first field. Kafka reads a newer version by the form it knows, and so do we."""
    if not data or len(data) < 2:
        return None
    reader = Reader(data)
    return reader if reader.int16() >= 0 else None
