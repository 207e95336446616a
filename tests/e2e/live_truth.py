"""What the brokers and ZooKeeper themselves say of a cluster now. Knows no table of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec, PartitionMetadata
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from lab.cluster import Cluster

_ADMIN_S = 30.0
Log = tuple[str, int]
# Group, topic, partition.
Place = tuple[str, str, int]
Kept = tuple[str, str]


@dataclass(frozen=True)
class LiveTruth:
    """Commits and members by coordinator: a group may have both."""

    brokers: dict[int, str]
    controller_id: int
    topics: dict[str, dict[int, PartitionMetadata]]
    starts: dict[Log, int]
    ends: dict[Log, int]
    committed: dict[str, dict[Place, int]]
    members: dict[Kept, int]

    @property
    def both(self) -> set[Place]:
        """Where both keep an offset. To Burrow the later one counts: nobody here says which."""
        return set.intersection(*(set(offsets) for offsets in self.committed.values()))

    def merge(self) -> dict[Place, int]:
        """The larger offset of each partition: what counts to the group itself."""
        found: dict[Place, int] = {}
        for offsets in self.committed.values():
            for place, offset in offsets.items():
                found[place] = max(offset, found.get(place, offset))
        return found


def read_live(cluster: Cluster) -> LiveTruth:
    """As it is now. Topics of Kafka's own are left out: they never rest."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
    metadata = admin.list_topics(timeout=_ADMIN_S)
    topics = {name: topic.partitions for name, topic in metadata.topics.items() if name[:2] != "__"}
    logs = [(topic, number) for topic, numbers in topics.items() for number in numbers]
    new_members, new_offsets = _read_kafka_groups(admin)
    with _connecting(cluster.zookeeper_connect) as client:
        old_members, old_offsets = read_zookeeper_groups(client)
    return LiveTruth(
        {one.id: f"{one.host}:{one.port}" for one in metadata.brokers.values()},
        metadata.controller_id,
        topics,
        read_offsets(admin, logs, OffsetSpec.earliest()),  # type: ignore[no-untyped-call]
        read_offsets(admin, logs, OffsetSpec.latest()),  # type: ignore[no-untyped-call]
        {"zookeeper": old_offsets, "kafka": new_offsets},
        {
            **{("zookeeper", group): count for group, count in old_members.items()},
            **{("kafka", group): count for group, count in new_members.items()},
        },
    )


def read_offsets(admin: AdminClient, logs: list[Log], spec: OffsetSpec) -> dict[Log, int]:
    """Where logs start or end."""
    wanted = {TopicPartition(*log): spec for log in logs}
    asked = admin.list_offsets(wanted, request_timeout=_ADMIN_S)
    return {
        (one.topic, one.partition): answer.result(_ADMIN_S).offset for one, answer in asked.items()
    }


def _read_kafka_groups(admin: AdminClient) -> tuple[dict[str, int], dict[Place, int]]:
    listed = admin.list_consumer_groups(request_timeout=_ADMIN_S).result(_ADMIN_S).valid
    names = [group.group_id for group in listed]
    if not names:
        return {}, {}
    described = admin.describe_consumer_groups(names, request_timeout=_ADMIN_S)
    members = {name: len(answer.result(_ADMIN_S).members) for name, answer in described.items()}
    offsets: dict[Place, int] = {}
    for name in names:
        asked = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(name)], request_timeout=_ADMIN_S
        )
        for one in asked[name].result(_ADMIN_S).topic_partitions or ():
            offsets[name, one.topic, one.partition] = one.offset
    return members, offsets


@contextmanager
def _connecting(zookeeper: str) -> Iterator[KazooClient]:
    client = KazooClient(zookeeper)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def read_zookeeper_groups(client: KazooClient) -> tuple[dict[str, int], dict[Place, int]]:
    """Members and committed offsets of old groups."""
    members, offsets = {}, {}
    for group in _list(client, "/consumers"):
        members[group] = len(_list(client, f"/consumers/{group}/ids"))
        for topic in _list(client, f"/consumers/{group}/offsets"):
            path = f"/consumers/{group}/offsets/{topic}"
            for name in _list(client, path):
                data = client.get(f"{path}/{name}")[0]
                # A story may write anything there.
                if name.isdigit() and data.isdigit():
                    offsets[group, topic, int(name)] = int(data)
    return members, offsets


def _list(client: KazooClient, path: str) -> list[str]:
    try:
        return list(client.get_children(path))
    except NoNodeError:
        return []
