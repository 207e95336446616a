"""Stories of members that come and go, and of the rebalances that follow."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.group_acts import (
    CrashMember,
    FreezeMember,
    JoinGroup,
    KillMember,
    StopMember,
    ThawMember,
)
from lab.stories.group_looks import OffsetsAre, OwnersAre
from lab.stories.lag_looks import LOOKED_AT_S, LagIs
from lab.stories.step import Pause, Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic, Produce


def _crash(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    yield CreateTopic(topic, cast.place(partitions=6, replication=2))
    for member in "abc":
        yield JoinGroup(group, member, topic)
    yield OwnersAre(group, topic, ("a", "b", "c"))
    victim = cast.dice.choice("abc")
    counts = tuple(cast.dice.randint(5, 30) for _ in range(6))
    yield LagIs(group, topic, (0,) * 6, for_s=LOOKED_AT_S)
    yield KillMember(group, victim)
    yield Produce(topic, counts)
    yield CrashMember(group, victim)
    alive = [member for member in "abc" if member != victim]
    yield OwnersAre(group, topic, tuple(alive))
    yield OffsetsAre(group, topic, counts)
    yield Pause(5_000)
    yield JoinGroup(group, "d", topic, streams=2)
    yield OwnersAre(group, topic, (*alive, "d"))
    for member in (*alive, "d"):
        yield StopMember(group, member)
    yield LagIs(group, topic, (0,) * 6)


def _flap(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    steady, flapper = cast.dice.sample("ab", 2)
    yield CreateTopic(topic, cast.place(cast.dice.randint(4, 6), replication=2))
    yield JoinGroup(group, steady, topic)
    yield JoinGroup(group, flapper, topic)
    yield OwnersAre(group, topic, ("a", "b"))
    for freezes in cast.dice.sample((True, False, False), 3):
        gone = FreezeMember(group, flapper) if freezes else StopMember(group, flapper)
        back = ThawMember(group, flapper, topic) if freezes else JoinGroup(group, flapper, topic)
        yield gone
        yield OwnersAre(group, topic, (steady,))
        yield back
        yield OwnersAre(group, topic, ("a", "b"))
        yield Pause(3_000)
    yield StopMember(group, flapper)
    yield StopMember(group, steady)
    yield LagIs(group, topic)


def _storm(cast: Cast) -> Iterator[Step]:
    topic, group = cast.name("orders"), cast.name("readers")
    yield CreateTopic(topic, cast.place(partitions=8, replication=1))
    yield JoinGroup(group, "m0", topic)
    alive = ["m0"]
    for number in range(1, 7):
        alive.append(f"m{number}")
        yield JoinGroup(group, alive[-1], topic, in_haste=True)
        if number % 2 == 0:
            leaver = cast.dice.choice(alive)
            alive.remove(leaver)
            yield StopMember(group, leaver)
        yield Pause(cast.dice.randint(0, 2_000))
    yield OwnersAre(group, topic, tuple(alive))
    for member in cast.dice.sample(alive, len(alive)):
        yield StopMember(group, member)
    yield LagIs(group, topic)


CONSUMER_CRASH = Story(
    "consumer-crash",
    "One of three consumers is killed with -9; the others take over, and a new one joins.",
    _crash,
)
FLAPPING_MEMBER = Story(
    "flapping-member",
    "A member leaves and comes back three times, once by losing its session.",
    _flap,
)
REBALANCE_STORM = Story(
    "rebalance-storm",
    "Members join and leave faster than the group can settle; then it settles.",
    _storm,
)
