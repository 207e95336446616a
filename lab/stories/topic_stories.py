"""Stories of topics and partitions, and of the groups that read them."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.group_acts import JoinGroup, StopMember
from lab.stories.group_looks import OffsetsAre, OwnersAre
from lab.stories.lag_looks import LOOKED_AT_S, LagIs
from lab.stories.step import Pause, Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import (
    AddPartitions,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    Produce,
    Reassign,
    Way,
)
from lab.stories.topic_looks import LeadersAre, TopicIsGone

_WAYS: tuple[Way, ...] = ("znode", "api")


def _add_partitions(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    replicas = cast.place(cast.dice.randint(2, 4), replication=2)
    yield CreateTopic(topic, replicas)
    yield JoinGroup(group, "a", topic)
    yield JoinGroup(group, "b", topic)
    yield OwnersAre(group, topic, ("a", "b"))
    for count in (1, cast.dice.randint(2, 3)):
        added = cast.place(count, replication=2)
        yield AddPartitions(topic, len(replicas), added)
        replicas += added
        yield LeadersAre(topic, replicas, preferred=True)
        yield OwnersAre(group, topic, ("a", "b"))
        yield Pause(5_000)
    yield StopMember(group, "b")
    yield StopMember(group, "a")
    yield LagIs(group, topic)


def _reassign(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    placement = list(cast.place(partitions=3, replication=2))
    yield CreateTopic(topic, tuple(placement))
    yield Produce(topic, tuple(cast.dice.randint(10, 50) for _ in placement))
    yield JoinGroup(group, "a", topic)
    yield OwnersAre(group, topic, ("a",))
    ways = cast.dice.sample(_WAYS, 2)
    for partition, by in zip(cast.dice.sample(range(3), 2), ways, strict=True):
        placement[partition] = _move(cast, placement[partition])
        yield Reassign(topic, partition, placement[partition], by)
        yield LeadersAre(topic, tuple(placement))
        # Any change of the topic's znode makes its groups rebalance: to the same owners.
        yield OwnersAre(group, topic, ("a",))
        yield Pause(5_000)
    yield StopMember(group, "a")
    yield LagIs(group, topic)


def _move(cast: Cast, replicas: tuple[int, ...]) -> tuple[int, ...]:
    """One replica, of the dice's choice, goes to a broker that holds none."""
    goes = cast.dice.randrange(len(replicas))
    comes = cast.dice.choice([one for one in cast.broker_ids if one not in replicas])
    return (*replicas[:goes], comes, *replicas[goes + 1 :])


def _elect_preferred(cast: Cast) -> Iterator[Step]:
    topic, replicas = cast.name("orders"), cast.place(partitions=3, replication=3)
    yield CreateTopic(topic, replicas)
    yield LeadersAre(topic, replicas, preferred=True)
    for by in cast.dice.sample(_WAYS, 2):
        # Another order of the same replicas: nothing moves, but the leader is no longer first.
        replicas = tuple((*of_one[1:], of_one[0]) for of_one in replicas)
        for partition, of_one in enumerate(replicas):
            yield Reassign(topic, partition, of_one)
        yield LeadersAre(topic, replicas)
        yield Pause(5_000)
        yield ElectPreferred(topic, (0, 1, 2), by)
        yield LeadersAre(topic, replicas, preferred=True)


def _recreate(cast: Cast) -> Iterator[Step]:
    topic, group, wild = cast.name("orders"), cast.name("readers"), cast.name("matchers")
    replicas = cast.place(cast.dice.randint(2, 3), replication=2)
    counts = tuple(cast.dice.randint(5, 30) for _ in replicas)
    yield CreateTopic(topic, replicas)
    yield Produce(topic, counts)
    yield JoinGroup(group, "a", topic)
    yield OffsetsAre(group, topic, counts)
    yield StopMember(group, "a")
    yield JoinGroup(wild, "w", cast.name(".*"), by_regex=True)
    yield OwnersAre(wild, topic, ("w",))
    yield LagIs(wild, topic, (0,) * len(counts), for_s=LOOKED_AT_S)
    yield DeleteTopic(topic)
    yield TopicIsGone(topic, for_s=LOOKED_AT_S)
    replicas = cast.place(len(replicas) + 1, replication=2)
    yield CreateTopic(topic, replicas)
    yield LeadersAre(topic, replicas, preferred=True)
    yield OwnersAre(wild, topic, ("w",))
    # Kafka leaves the group's offsets of the former topic: they lie beyond the log's end.
    yield OffsetsAre(group, topic, counts)
    yield LagIs(group, topic, (None,) * len(counts))
    yield StopMember(wild, "w")


PARTITIONS_ADDED = Story(
    "partitions-added", "A topic grows twice while a group of two reads it.", _add_partitions
)
REASSIGNMENT = Story(
    "reassignment",
    "Replicas of two partitions move to other brokers, by znode and by API.",
    _reassign,
)
PREFERRED_ELECTION = Story(
    "preferred-election",
    "Leaders fall out of the first place and are elected back, by znode and by API.",
    _elect_preferred,
)
TOPIC_RECREATED = Story(
    "topic-recreated",
    "A topic is deleted and created again with more partitions; the group's offsets stay behind, "
    "and who reads by a regex follows.",
    _recreate,
)
