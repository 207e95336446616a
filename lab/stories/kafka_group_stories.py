"""The story of a group that Kafka keeps, beside one that ZooKeeper keeps, on the same topic."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.group_acts import JoinGroup, StopMember
from lab.stories.group_looks import OffsetsAre, OwnersAre
from lab.stories.kafka_group_acts import (
    CommitToKafka,
    JoinKafkaGroup,
    KafkaOffsetsAre,
    KafkaOwnersAre,
    LeaveKafkaGroup,
    StallKafkaMember,
    assign_by_range,
)
from lab.stories.lag_looks import LOOKED_AT_S, LagIs
from lab.stories.step import Pause, Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic, Produce

_PARTITIONS = 4


def _read_side_by_side(cast: Cast) -> Iterator[Step]:
    topic, old, new = cast.name("orders"), cast.name("readers"), cast.name("kafka-readers")
    first, later = (
        tuple(cast.dice.randint(5, 30) for _ in range(_PARTITIONS)) for _ in ("first", "later")
    )
    total = tuple(map(sum, zip(first, later, strict=True)))
    yield CreateTopic(topic, cast.place(_PARTITIONS, replication=2))
    yield JoinGroup(old, "z", topic)
    yield JoinKafkaGroup(new, "a", topic)
    yield JoinKafkaGroup(new, "b", topic)
    yield OwnersAre(old, topic, ("z",))
    yield KafkaOwnersAre(new, topic, _PARTITIONS, ("a", "b"))
    yield Produce(topic, first)
    yield OffsetsAre(old, topic, first)
    yield KafkaOffsetsAre(new, topic, first)
    yield LagIs(new, topic, (0,) * _PARTITIONS, "kafka", for_s=LOOKED_AT_S)
    idle, busy = cast.dice.sample("ab", 2)
    yield StallKafkaMember(new, idle)
    yield Produce(topic, later)
    yield OffsetsAre(old, topic, total)
    owners = assign_by_range(_PARTITIONS, ("a", "b"))
    yield KafkaOffsetsAre(
        new, topic, tuple((total if owners[p] == busy else first)[p] for p in range(_PARTITIONS))
    )
    left = tuple(later[p] if owners[p] == idle else 0 for p in range(_PARTITIONS))
    yield LagIs(new, topic, left, "kafka", for_s=7.0)
    yield KafkaOwnersAre(new, topic, _PARTITIONS, ("a", "b"))
    yield LeaveKafkaGroup(new, idle)
    yield KafkaOwnersAre(new, topic, _PARTITIONS, (busy,))
    yield KafkaOffsetsAre(new, topic, total)
    # The old group commits to both; Kafka's copy lags behind.
    behind = tuple(cast.dice.randrange(count) for count in total)
    yield CommitToKafka(old, topic, behind)
    yield KafkaOffsetsAre(old, topic, behind)
    yield Pause(5_000)
    yield LeaveKafkaGroup(new, busy)
    yield StopMember(old, "z")
    yield LagIs(new, topic, (0,) * _PARTITIONS, "kafka")
    yield LagIs(old, topic, (0,) * _PARTITIONS)
    yield LagIs(old, topic, tuple(map(int.__sub__, total, behind)), "kafka")


KAFKA_GROUP = Story(
    "kafka-group",
    "Beside a group of ZooKeeper's one of Kafka's reads: two join, one stalls and leaves; the old "
    "one commits to both.",
    _read_side_by_side,
)
