"""What ZooKeeper says of a group right now: members, owners, offsets, and whether it is settled.

Reads only, each znode by itself: while a group rebalances, two reads see two moments.
"""

from __future__ import annotations

import re
from typing import Any

from kazoo.exceptions import NoNodeError

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.assignors import ASSIGNORS
from lab.zookeeper_consumer.settled import is_settled
from lab.zookeeper_consumer.subscription import list_threads
from zklake.events.payloads.broker import decode_broker
from zklake.events.payloads.consumer import Consumer, decode_consumer, decode_offset
from zklake.events.payloads.reading import Unreadable
from zklake.events.payloads.topic import decode_topic


def read_children(client: Any, path: str) -> list[str]:
    """Sorted names; none when the path is missing."""
    try:
        return sorted(client.get_children(path))
    except NoNodeError:
        return []


def read_data(client: Any, path: str) -> bytes | None:
    """Data; None when the path is missing."""
    try:
        data: bytes | None = client.get(path)[0]
    except NoNodeError:
        return None
    return data


def read_member(client: Any, group: str, member_id: str) -> Consumer | None:
    """One registration; None when it is gone or unreadable."""
    member = decode_consumer(read_data(client, f"{paths.ids_dir(group)}/{member_id}"))
    return None if isinstance(member, Unreadable) else member


def read_members(client: Any, group: str) -> dict[str, Consumer]:
    """Registrations by member id."""
    ids = read_children(client, paths.ids_dir(group))
    found = {member_id: read_member(client, group, member_id) for member_id in ids}
    return {member_id: member for member_id, member in found.items() if member is not None}


def read_topics(client: Any) -> list[str]:
    """Every topic there is."""
    return read_children(client, paths.TOPICS)


def read_partitions(client: Any, topic: str) -> list[int]:
    """A topic's partitions, sorted; none when it does not exist."""
    assignment = decode_topic(read_data(client, paths.topic_path(topic)))
    return [] if isinstance(assignment, Unreadable) else sorted(assignment.partitions)


def read_owners(client: Any, group: str, topic: str) -> dict[int, str]:
    """Thread ids by partition."""
    values = _read_partition_nodes(client, paths.owners_dir(group, topic))
    return {partition: data.decode(errors="replace") for partition, data in values.items()}


def read_offsets(client: Any, group: str, topic: str) -> dict[int, int]:
    """The next offset to read, by partition."""
    values = _read_partition_nodes(client, paths.offsets_dir(group, topic))
    offsets = {partition: decode_offset(data) for partition, data in values.items()}
    return {p: o.offset for p, o in offsets.items() if not isinstance(o, Unreadable)}


def _read_partition_nodes(client: Any, path: str) -> dict[int, bytes]:
    # 0.7's names (`[broker]-[partition]`) may stand beside ours in a tree upgraded in place.
    names = [name for name in read_children(client, path) if re.fullmatch(r"[0-9]+", name)]
    found = {int(name): read_data(client, f"{path}/{name}") for name in names}
    return {p: found[p] or b"" for p in sorted(found) if found[p] is not None}


def read_bootstrap(client: Any) -> str:
    """The brokers' addresses out of /brokers/ids; empty when none is registered."""
    addresses = []
    for broker_id in read_children(client, paths.BROKER_IDS):
        broker = decode_broker(read_data(client, f"{paths.BROKER_IDS}/{broker_id}"))
        if isinstance(broker, Unreadable):
            continue
        listed = [e.partition("://")[2] for e in broker.endpoints] or [
            f"{broker.host}:{broker.port}"
        ]
        addresses.append(listed[0])
    return ",".join(addresses)


def is_group_settled(client: Any, group: str) -> bool:
    """VerifyConsumerRebalance on what is there now."""
    members = read_members(client, group)
    topics = read_topics(client)
    owners = {
        (topic, partition): thread
        for topic in list_threads(members, topics)
        for partition, thread in read_owners(client, group, topic).items()
    }
    partitions = {topic: read_partitions(client, topic) for topic in topics}
    return is_settled(members, partitions, owners)


def expect_owners(client: Any, group: str, strategy: str = "range") -> dict[str, dict[int, str]]:
    """Thread ids by topic and partition, as the formula gives them to the members there now."""
    threads = list_threads(read_members(client, group), read_topics(client))
    partitions = {topic: read_partitions(client, topic) for topic in threads}
    expected: dict[str, dict[int, str]] = {topic: {} for topic in threads}
    for (topic, partition), thread in sorted(ASSIGNORS[strategy](threads, partitions).items()):
        expected[topic][partition] = thread
    return expected
