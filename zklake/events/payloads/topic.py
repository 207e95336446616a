"""/brokers/topics/[topic]: which replicas each partition is assigned to."""

from __future__ import annotations

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    Document,
    Int32,
    PartitionId,
    Payload,
    Unreadable,
    read_decimal,
)

Replicas = dict[PartitionId, tuple[Int32, ...]]


class Topic(Payload, frozen=True, kw_only=True):
    """Assigned replicas by partition, the preferred leader first; not the in-sync ones."""

    partitions: Replicas = msgspec.field(default_factory=dict)
    # Only partitions in flight stand here.
    adding_replicas: Replicas = msgspec.field(default_factory=dict)
    removing_replicas: Replicas = msgspec.field(default_factory=dict)
    # Absent while inter.broker.protocol.version is below 2.8.
    topic_id: str | None = None


class TopicBroker(Payload, frozen=True, kw_only=True):
    """0.7: how many partitions of the topic one broker holds."""

    partition_count: Int32


_MOVES = ("partitions", "adding_replicas", "removing_replicas")
_ASSIGNMENT = Document(Topic, {1: ("partitions",), 2: _MOVES, 3: _MOVES})


def decode_topic(data: bytes | None) -> Topic | Unreadable:
    """An assignment of any release; without data it is 0.7's directory of brokers."""
    return _ASSIGNMENT.read(data) if data else Topic()


def decode_topic_broker(data: bytes | None) -> TopicBroker | Unreadable:
    """0.7's partition count."""
    count = read_decimal(data, 0, 2**31 - 1)
    return count if isinstance(count, Unreadable) else TopicBroker(partition_count=count)


_SAMPLES = (
    Sample("0.7", None),
    Sample("0.8.0-2.3", b'{"version":1,"partitions":{"1":[2,3],"0":[1,2]}}'),
    Sample(
        "2.4-2.7",
        b'{"version":2,"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{}}',
    ),
    Sample(
        "2.8-3.9",
        b'{"version":3,"topic_id":"8-9gXqS3Q0mGkz1uV2m3Vw",'
        b'"partitions":{"0":[4,5,1,2],"1":[2,3]},'
        b'"adding_replicas":{"0":[4,5]},"removing_replicas":{"0":[1,2]}}',
    ),
)

KINDS = (
    directory("topics_dir", "/brokers/topics", "0.7-3.9"),
    Kind(
        "topic",
        "/brokers/topics/[topic]",
        "0.7-3.9",
        "the assignment: ordered replicas of each partition",
        decode_topic,
        _SAMPLES,
    ),
    Kind(
        "topic_broker",
        "/brokers/topics/[topic]/[broker_id]",
        "0.7",
        "the number of partitions of the topic on one broker",
        decode_topic_broker,
        (Sample("0.7", b"4"),),
        mode="ephemeral",
    ),
)
