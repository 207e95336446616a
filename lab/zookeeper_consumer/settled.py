"""VerifyConsumerRebalance's rule: has every partition an owner that lives?

Pure. The rule is also true before a rebalance has begun: after a trigger, settled means that it
holds AND that somebody has released since, which only a reader of events can know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lab.zookeeper_consumer.assignors import Partitions, TopicPartition
from lab.zookeeper_consumer.subscription import list_threads
from zklake.events.payloads.consumer import Consumer


class Unsettled(NamedTuple):
    """A partition that nobody alive owns; `owner` is None, or not a live thread of the topic."""

    topic: str
    partition: int
    owner: str | None


def find_unsettled(
    members: Mapping[str, Consumer], partitions: Partitions, owners: Mapping[TopicPartition, str]
) -> list[Unsettled]:
    """The partitions that break the rule. `partitions` holds every topic there is."""
    threads = list_threads(members, partitions)
    return [
        Unsettled(topic, partition, owners.get((topic, partition)))
        for topic in sorted(threads)
        for partition in partitions.get(topic, ())
        if owners.get((topic, partition)) not in threads[topic]
    ]


def is_settled(
    members: Mapping[str, Consumer], partitions: Partitions, owners: Mapping[TopicPartition, str]
) -> bool:
    """Whether every partition of every subscribed topic is owned by a thread of a live member."""
    return not find_unsettled(members, partitions, owners)
