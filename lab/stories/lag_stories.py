"""Stories of groups that fall behind although somebody is there."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.group_acts import JoinGroup, StopMember
from lab.stories.group_looks import OffsetsAre, OwnersAre
from lab.stories.impostor_acts import ClaimPartitions, EndImpostor, RegisterImpostor, Unregister
from lab.stories.lag_looks import LOOKED_AT_S, LagIs
from lab.stories.step import Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic, Produce, ProduceSteadily


def _fall_behind(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    first, later = cast.dice.randint(2, 5), cast.dice.randint(160, 200)
    yield CreateTopic(topic, cast.place(partitions=1, replication=2))
    yield JoinGroup(group, "slow", topic, rate=5.0)
    yield OwnersAre(group, topic, ("slow",))
    yield ProduceSteadily(topic, first, rate=100.0)
    yield OffsetsAre(group, topic, (first,))
    yield LagIs(group, topic, (0,), for_s=LOOKED_AT_S)
    yield ProduceSteadily(topic, later, rate=40.0)
    yield StopMember(group, "slow")
    # Nobody is there now, and there is more to read.
    yield LagIs(group, topic, for_s=LOOKED_AT_S)
    yield JoinGroup(group, "fast", topic)
    yield OffsetsAre(group, topic, (first + later,))
    yield StopMember(group, "fast")
    yield LagIs(group, topic, (0,))


def _hold_on(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    first, later = (tuple(cast.dice.randint(5, 30) for _ in range(4)) for _ in ("first", "later"))
    yield CreateTopic(topic, cast.place(partitions=4, replication=2))
    yield JoinGroup(group, "a", topic)
    yield OwnersAre(group, topic, ("a",))
    yield Produce(topic, first)
    yield OffsetsAre(group, topic, first)
    yield LagIs(group, topic, (0,) * 4, for_s=LOOKED_AT_S)
    yield RegisterImpostor(group, "z", topic)
    yield Produce(topic, later)
    # Its share of the partitions is left to it, and it does not take it.
    behind = (0, 0, *later[2:])
    yield LagIs(group, topic, behind, for_s=4.0)
    yield ClaimPartitions(group, "z", topic, (2, 3))
    yield OwnersAre(group, topic, ("a", "z"))
    yield Unregister(group, "z")
    # Now everything is for the other one, who is refused as long as the owner znodes stand.
    yield LagIs(group, topic, behind, for_s=1.0)
    yield EndImpostor(group, "z", topic, (2, 3))
    yield OwnersAre(group, topic, ("a",))
    yield OffsetsAre(group, topic, tuple(map(sum, zip(first, later, strict=True))))
    yield StopMember(group, "a")
    yield LagIs(group, topic, (0,) * 4)


SLOW_CONSUMER = Story(
    "slow-consumer",
    "A consumer reads slower than others write, and stops; a faster one takes over.",
    _fall_behind,
)
ZOMBIE_MEMBER = Story(
    "zombie-member",
    "A member takes none of its partitions; later it owns some, and is a member no more.",
    _hold_on,
)
