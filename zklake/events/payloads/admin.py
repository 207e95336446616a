"""/admin: what operators asked of the controller through ZooKeeper."""

from __future__ import annotations

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    Document,
    Int32,
    PartitionId,
    Payload,
    Unreadable,
)


class TopicPartition(msgspec.Struct, frozen=True):
    """One partition, named."""

    topic: str
    partition: PartitionId


class Move(TopicPartition, frozen=True):
    """One partition and the replicas it shall have."""

    replicas: tuple[Int32, ...]


class Reassignment(Payload, frozen=True, kw_only=True):
    """The moves not yet finished; the controller shrinks the list and deletes the znode."""

    partitions: tuple[Move, ...]


class PartitionList(Payload, frozen=True, kw_only=True):
    """Partitions that await an election, or whose isr changed."""

    partitions: tuple[TopicPartition, ...]


_REASSIGNMENT = Document(Reassignment, {1: ()})
_PARTITION_LIST = Document(PartitionList, {1: ()})


def decode_reassignment(data: bytes | None) -> Reassignment | Unreadable:
    """The moves asked for."""
    return _REASSIGNMENT.read(data)


def decode_partition_list(data: bytes | None) -> PartitionList | Unreadable:
    """A list of partitions."""
    return _PARTITION_LIST.read(data)


KINDS = (
    directory("admin_dir", "/admin", "0.8-3.9"),
    Kind(
        "reassignment",
        "/admin/reassign_partitions",
        "0.8-3.9",
        "replica moves asked through ZooKeeper; the API of 2.4+ leaves no node",
        decode_reassignment,
        (
            Sample(
                "0.8-3.9",
                b'{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[4,5]}]}',
            ),
        ),
    ),
    Kind(
        "preferred_election",
        "/admin/preferred_replica_election",
        "0.8-3.9",
        "partitions whose preferred replica shall lead; the API leaves no node",
        decode_partition_list,
        (
            Sample(
                "0.8-3.9",
                b'{"version":1,"partitions":[{"topic":"orders","partition":0},'
                b'{"topic":"bills","partition":3}]}',
            ),
        ),
    ),
    directory("delete_topics_dir", "/admin/delete_topics", "0.8.1-3.9"),
    Kind(
        "topic_deletion",
        "/admin/delete_topics/[topic]",
        "0.8.1-3.9",
        "a topic that shall be deleted; goes when it is",
        sensitivity="empty",
    ),
)
