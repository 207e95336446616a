"""What the sampler says beside the tree: commits and members of Kafka-stored groups, log ends.

It goes on while the watcher is blind to ZooKeeper, and nothing that it says is in the tree.
"""

from __future__ import annotations

import msgspec

from tests.reference.fold.topic_steps import TOPICS, Step
from tests.reference.fold.world import World
from zklake.events.samples import (
    BrokerFailure,
    Commit,
    GroupCommits,
    GroupReading,
    GroupState,
    LogEnd,
    LogEnds,
    Member,
    Round,
    TopicPartitions,
)

# The first is also a group of ZooKeeper's; a Kafka group may be called anything.
_GROUPS = ("g1", "a/b-'c'", "söhne")
_MEMBERS = ("m-1", "m-2", "m-3")
_BROKERS = (1, 2, 3)


def commit(world: World) -> None:
    """Some groups commit; some offsets expire."""
    commits = [_commit(world) for _ in range(world.dice.randrange(1, 5))]
    if world.chance(0.05):
        # A key twice is nothing that the sampler does.
        commits.append(msgspec.structs.replace(commits[0], committed_offset=77))
    for each in commits:
        world.brokers.commits[each.group_id, each.topic, each.partition] = each
    world.publish("group_commit", None, group_commit=GroupCommits(tuple(commits)))


def _commit(world: World) -> Commit:
    group_id, topic = world.dice.choice(_GROUPS), world.dice.choice(TOPICS[:2])
    partition = -1 if world.chance(0.02) else world.dice.randrange(2)
    if world.chance(0.15):
        return Commit(group_id, topic, partition, tombstone=True)
    former = world.brokers.commits.get((group_id, topic, partition))
    offset = (former and former.committed_offset) or world.dice.randrange(100)
    return Commit(
        group_id,
        topic,
        partition,
        offset + world.dice.choice((0, 0, 5, 100, -20)),
        metadata=world.dice.choice((None, "note")),
        commit_at_ms=_at_ms(world),
    )


def _at_ms(world: World) -> int | None:
    if world.chance(0.3):
        return None
    if world.chance(0.03):
        return world.dice.choice((-1, 2**62))
    return world.now_ms - world.dice.choice((0, 40, 900, 70_000))


def turn_group(world: World) -> None:
    """A rebalance; or the same is said again."""
    group_id = world.dice.choice(_GROUPS)
    former = world.brokers.groups.get(group_id)
    if former is None or world.chance(0.8):
        former = _next_state(world, group_id, former)
    _say(world, former)


def _next_state(world: World, group_id: str, former: GroupState | None) -> GroupState:
    generation = ((former and former.generation) or 0) + world.dice.choice((1, 2))
    state = GroupState(group_id, "Stable", generation, "consumer", "range", at_ms=_at_ms(world))
    if world.chance(0.2):
        # Asked for: neither is told.
        state = msgspec.structs.replace(state, generation=None, at_ms=None)
    roll = world.dice.random()
    if roll < 0.1:
        return msgspec.structs.replace(state, state=None, tombstone=True)
    if roll < 0.2:
        nobody = None if world.chance(0.5) else ()
        return msgspec.structs.replace(state, state="Empty", members=nobody, member_count=0)
    if roll < 0.3:
        # They did not fit the record.
        return msgspec.structs.replace(state, member_count=9_000)
    names = world.dice.sample(_MEMBERS, world.dice.randrange(1, len(_MEMBERS) + 1))
    if world.chance(0.05):
        names.append(names[0])
    members = tuple(_member(world, name) for name in names)
    return msgspec.structs.replace(state, members=members, member_count=len(members))


def _member(world: World, member_id: str) -> Member:
    is_told = world.chance(0.9)
    topics = world.dice.choice((TOPICS[:1], (TOPICS[1], TOPICS[0]), (TOPICS[0], TOPICS[0]), ()))
    assigned = tuple(
        TopicPartitions(topic, tuple(world.dice.sample((0, 1, 2, -1), world.dice.randrange(3))))
        for topic in topics
    )
    return Member(
        member_id,
        group_instance_id=world.dice.choice((None, None, "static-1")),
        client_id=world.dice.choice(("app", "app", "other")),
        client_host=world.dice.choice(("10.0.0.1", "10.0.0.1", None)),
        subscription=tuple(topics) if is_told else None,
        assignment=assigned if is_told else None,
    )


def _say(world: World, state: GroupState) -> None:
    world.brokers.groups[state.group_id] = state
    fidelity = "exact" if state.members is not None or state.tombstone else "oversize"
    world.publish("group_state", None, fidelity=fidelity, group_state=state)


def end_round(world: World) -> None:
    """Log ends, and how far groups are known."""
    brokers = world.brokers
    after_seq = world.seq - world.dice.choice((0, 0, 0, 2))
    ends = tuple(_end(world) for _ in range(world.dice.randrange(4)))
    brokers.ends |= {(end.topic, end.partition): end for end in ends}
    if len(ends) > 2:
        world.publish("log_ends", None, log_ends=LogEnds(ends[:1]))
        ends = ends[1:]
    answered = tuple(broker for broker in _BROKERS if world.chance(0.8))
    failed = tuple(BrokerFailure(b, "timed out") for b in _BROKERS if b not in answered)
    is_base, brokers.has_base = not brokers.has_base, True
    ended = Round(
        after_seq,
        world.dice.randrange(50),
        answered,
        failed,
        is_base=is_base or world.chance(0.1),
        groups=_reading(world),
    )
    world.publish("log_ends", None, log_ends=LogEnds(ends, ended))


def _end(world: World) -> LogEnd:
    topic, partition = world.dice.choice(TOPICS[:2]), world.dice.randrange(2)
    broker_id = world.dice.choice(_BROKERS)
    if world.chance(0.15):
        error = world.dice.choice(("UNKNOWN_TOPIC_OR_PART", "LEADER_NOT_AVAILABLE"))
        return LogEnd(topic, partition, broker_id, error=error)
    former = world.brokers.ends.get((topic, partition))
    start = (former and former.log_start_offset) or 0
    end = (former and former.log_end_offset) or 50
    start += world.dice.choice((0, 0, 10))
    end = max(start, end + world.dice.choice((0, 10, 100, -30)))
    return LogEnd(topic, partition, broker_id, start, end)


def _reading(world: World) -> GroupReading | None:
    if world.chance(0.1):
        return None
    return GroupReading(
        world.dice.choice(("offsets_topic", "admin_api")),
        world.brokers.since_seq,
        partitions_behind=world.dice.choice((0, 0, 0, 2)),
        reason=world.dice.choice((None, None, None, "not asked yet")),
    )


def say_all(world: World) -> None:
    """All that stands is said anew, what is gone is not; then a round says that this was all."""
    world.brokers.since_seq = world.seq + world.dice.choice((0, 1))
    for group_id, state in sorted(world.brokers.groups.items()):
        if world.chance(0.6):
            _say(world, state)
        else:
            del world.brokers.groups[group_id]
    kept = [each for _, each in sorted(world.brokers.commits.items()) if world.chance(0.6)]
    world.brokers.commits = {(c.group_id, c.topic, c.partition): c for c in kept}
    if kept:
        world.publish("group_commit", None, group_commit=GroupCommits(tuple(kept)))
    end_round(world)


STEPS: tuple[tuple[Step, int], ...] = (
    (commit, 5),
    (turn_group, 6),
    (end_round, 5),
    (say_all, 2),
)
