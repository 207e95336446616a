"""Stories of groups that read, rewind, or only pretend to read."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.broker_acts import BrokersAre, ControllerIs
from lab.stories.group_acts import JoinGroup, RewindOffsets, StopMember
from lab.stories.group_looks import OffsetsAre, OwnersAre
from lab.stories.lag_looks import LOOKED_AT_S, LagIs
from lab.stories.step import Pause, Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic, Produce
from lab.stories.topic_looks import LeadersAre

Counts = tuple[int, ...]


def _roll(cast: Cast, partitions: int) -> Counts:
    return tuple(cast.dice.randint(5, 30) for _ in range(partitions))


def _add(some: Counts, more: Counts) -> Counts:
    return tuple(one + other for one, other in zip(some, more, strict=True))


def _subtract(some: Counts, less: Counts) -> Counts:
    return tuple(one - other for one, other in zip(some, less, strict=True))


def _pass_quietly(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    replicas = cast.place(cast.dice.randint(3, 4), replication=2)
    yield CreateTopic(topic, replicas)
    yield BrokersAre()
    yield ControllerIs()
    yield LeadersAre(topic, replicas, preferred=True)
    yield JoinGroup(group, "a", topic)
    yield JoinGroup(group, "b", topic)
    yield OwnersAre(group, topic, ("a", "b"))
    total: Counts = (0,) * len(replicas)
    for _hour in range(4):
        counts = _roll(cast, len(replicas))
        total = _add(total, counts)
        yield Produce(topic, counts)
        yield OffsetsAre(group, topic, total)
        yield Pause(10_000)
    yield OwnersAre(group, topic, ("a", "b"))
    yield StopMember(group, "b")
    yield StopMember(group, "a")
    yield LagIs(group, topic, (0,) * len(replicas))


def _rewind(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    counts = _roll(cast, 3)
    yield CreateTopic(topic, cast.place(partitions=3, replication=2))
    yield Produce(topic, counts)
    yield JoinGroup(group, "a", topic)
    yield OffsetsAre(group, topic, counts)
    yield LagIs(group, topic, (0,) * 3, for_s=LOOKED_AT_S)
    yield StopMember(group, "a")
    back = tuple(cast.dice.randrange(count) for count in counts)
    yield RewindOffsets(group, topic, back)
    yield OffsetsAre(group, topic, back)
    yield LagIs(group, topic, _subtract(counts, back), for_s=LOOKED_AT_S)
    yield JoinGroup(group, "a", topic)
    yield OffsetsAre(group, topic, counts)
    yield StopMember(group, "a")
    yield LagIs(group, topic, (0,) * 3)


def _get_stuck(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    first, later = _roll(cast, 2), _roll(cast, 2)
    yield CreateTopic(topic, cast.place(partitions=2, replication=2))
    yield Produce(topic, first)
    yield JoinGroup(group, "well", topic)
    yield OffsetsAre(group, topic, first)
    yield LagIs(group, topic, (0, 0), for_s=LOOKED_AT_S)
    yield StopMember(group, "well")
    yield JoinGroup(group, "stuck", topic, commits=False)
    yield OwnersAre(group, topic, ("stuck",))
    yield Produce(topic, later)
    yield LagIs(group, topic, later, for_s=7.0)
    yield OffsetsAre(group, topic, first)
    yield OwnersAre(group, topic, ("stuck",))
    yield StopMember(group, "stuck")
    yield JoinGroup(group, "well", topic)
    yield OffsetsAre(group, topic, _add(first, later))
    yield StopMember(group, "well")
    yield LagIs(group, topic, (0, 0))


QUIET_DAY = Story("quiet-day", "Two consumers read what comes, hour after hour.", _pass_quietly)
OFFSET_REWIND = Story(
    "offset-rewind", "Committed offsets are set back by hand, and all is read again.", _rewind
)
STUCK_CONSUMER = Story(
    "stuck-consumer", "A consumer owns every partition and commits nothing.", _get_stuck
)
