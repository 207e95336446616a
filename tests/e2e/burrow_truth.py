"""What the broker and ZooKeeper themselves say of a group at one moment, and its log later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from confluent_kafka import Consumer, TopicPartition

from lab.cluster import Cluster
from lab.zookeeper_consumer.group import read_members, read_offsets, read_owners
from lab.zookeeper_consumer.session import closing_client
from tests.reference.tree import Change

# Between a clock that is read here, and ZooKeeper's.
_SLACK_MS = 20


@dataclass(frozen=True)
class Truth:
    """What the broker and ZooKeeper say, by partition."""

    began_at: datetime
    at: datetime
    ends: dict[int, int]
    offsets: dict[int, int]
    owners: dict[int, str]
    members: int

    @property
    def lag(self) -> int:
        """Records that the group has not committed yet."""
        return sum(end - self.offsets.get(p, 0) for p, end in self.ends.items())


def read_truth(cluster: Cluster, group: str, topic: str, partitions: int) -> Truth:
    """Now; its moment is after ZooKeeper answered and before the broker is asked."""
    began_at = datetime.now(UTC)
    with closing_client(cluster.zookeeper_connect) as client:
        owners, members = read_owners(client, group, topic), read_members(client, group)
        offsets = read_offsets(client, group, topic)
    at = datetime.now(UTC)
    ends = _read_ends(cluster, topic, partitions)
    return Truth(began_at, at, ends, offsets, owners, len(members))


def _read_ends(cluster: Cluster, topic: str, partitions: int) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "truth"})
    try:
        places = [TopicPartition(topic, partition) for partition in range(partitions)]
        return {p.partition: consumer.get_watermark_offsets(p, timeout=10)[1] for p in places}
    finally:
        consumer.close()


def find_standing(changes: Iterable[Change], path: str, truth: Truth) -> set[bytes | None]:
    """What a znode held while the truth was read, by ZooKeeper's own transaction log."""
    first_ms, last_ms = (round(at.timestamp() * 1000) for at in (truth.began_at, truth.at))
    found: set[bytes | None] = {None}
    for change in changes:
        if change.path == path and change.time_ms <= last_ms + _SLACK_MS:
            held = None if change.op == "delete" else change.data
            found = {held} | (found if change.time_ms >= first_ms - _SLACK_MS else set())
    return found
