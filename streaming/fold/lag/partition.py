"""One partition as the fold of lag knows it: its open row of log_ends, its curve, its groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streaming.fold.lag.curve import Curve

if TYPE_CHECKING:
    from streaming.fold.lag.group_partition import GroupPartition


@dataclass(slots=True, eq=False)
class Partition:
    """A partition. Without an open row nothing is known of its log."""

    topic: str
    number: int
    curve: Curve = field(default_factory=Curve)
    group_partitions: list[GroupPartition] = field(default_factory=list)
    # Raised when something changes that a lag is made of.
    version: int = 0
    # The topic as it stands: whether it does, and which one.
    has_topic: bool = False
    topic_incarnation: int | None = None
    # The round that named it, and the one that last vouched for it.
    named_seq: int = -1
    vouched_seq: int = -1
    # What was sampled last: the newest end, when it was first seen, and when last.
    start: int | None = None
    end: int | None = None
    sampled_ms: int = 0
    confirmed_ms: int = 0
    # The open row; its offsets are those it began with.
    is_open: bool = False
    incarnation: int | None = None
    broker_id: int | None = None
    error: str | None = None
    row_start: int | None = None
    row_end: int | None = None
    row_sampled_ms: int = 0
    row_confirmed_ms: int = 0
    from_seq: int = -1
    from_ms: int | None = None
    seen_seq: int = -1


@dataclass(slots=True)
class Partitions:
    """All partitions that anything is known of, by topic and number."""

    by_topic: dict[str, dict[int, Partition]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Partition]:
        return (
            partition for partitions in self.by_topic.values() for partition in partitions.values()
        )

    def get(self, topic: str, number: int) -> Partition:
        """The partition, made when missing."""
        partitions = self.by_topic.get(topic)
        if partitions is None:
            partitions = self.by_topic[topic] = {}
        partition = partitions.get(number)
        if partition is None:
            partition = partitions[number] = Partition(topic, number)
        return partition

    def of(self, topic: str) -> list[Partition]:
        """Those of a topic."""
        return list(self.by_topic.get(topic, {}).values())

    def forget_empty(self) -> None:
        """Drop partitions of which nothing is left."""
        for topic, partitions in list(self.by_topic.items()):
            for partition in list(partitions.values()):
                if not (partition.is_open or partition.group_partitions or len(partition.curve)):
                    del partitions[partition.number]
            if not partitions:
                del self.by_topic[topic]
