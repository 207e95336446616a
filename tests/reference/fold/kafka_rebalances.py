"""The rebalances table of Kafka-stored groups: a row per step from one generation to another."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.presence import Moment
from tests.reference.fold.rebalance_episode import COUNTS
from tests.reference.fold.states import OPEN, end
from tests.reference.fold.things import Group
from zklake.events.envelope import Event
from zklake.events.samples import GroupState

Row = dict[str, Any]


def fold_kafka_rebalances(moments: list[Moment]) -> list[Row]:
    """All rows of one cluster."""
    rows = []
    told: dict[Group, Event] = {}
    for number, moment in enumerate(moments):
        state = moment.event.group_state
        if moment.event.op != "group_state" or state is None:
            continue
        group = Group("kafka", state.group_id)
        was = moments[number - 1] if number else None
        if was is not None and group in was.kafka_groups and group in moment.kafka_groups:
            rows += _compare(group, was, moment, state, told[group])
        told[group] = moment.event
    return rows


def _compare(group: Group, was: Moment, now: Moment, state: GroupState, former: Event) -> list[Row]:
    generation = former.group_state.generation if former.group_state else None
    members = [{key[1] for key in each.members if key[0] == group} for each in (was, now)]
    owners = [
        {
            (key.topic, key.partition): o.owner
            for key, o in each.owners.items()
            if key.group == group
        }
        for each in (was, now)
    ]
    is_step = generation != state.generation
    if None in (generation, state.generation):
        is_step = members[0] != members[1] or owners[0] != owners[1]
    if not is_step:
        return []
    written = {name for name, topic in now.topics.items() if topic.seq > former.seq}
    is_known = group not in was.unknown_groups and group not in now.unknown_groups
    seq = now.event.seq
    at = timestamp(now.event.observed_at_ms if state.at_ms is None else state.at_ms)
    row = {
        "cluster": now.event.cluster,
        **group._asdict(),
        "generation": state.generation,
        "members_before": None if group in was.unknown_groups else len(members[0]),
        **dict.fromkeys(COUNTS),
        "attempts": _count_steps(generation, state.generation),
        "members_after": state.member_count if group in now.unknown_groups else len(members[1]),
        "partitions": None if group in now.unknown_groups else len(owners[1]),
        **(_count(*owners) if is_known else {}),
        **(_find_trigger(members, owners, written) if is_known else _tell("unknown")),
        "outcome": "settled",
        "seen_seq": seq,
        "valid_from_seq": seq,
        "valid_from_zxid": None,
        "valid_from_at": at,
        **OPEN,
    }
    end(row, "settled", seq, None, at)
    return [row]


def _count_steps(was: int | None, now: int | None) -> int | None:
    if was is None or now is None:
        return None
    return now - was if now - was > 1 else None


def _count(was: dict[Any, Any], now: dict[Any, Any]) -> Row:
    both = [key for key in was if key in now]
    return {
        "moved": sum(was[key] != now[key] for key in both),
        "reacquired": sum(was[key] == now[key] for key in both),
        "left_unowned": len(was) - len(both),
    }


def _find_trigger(members: list[set[str]], owned: list[dict[Any, Any]], written: set[str]) -> Row:
    """`written`: topics that are not what they were when the group was told before."""
    came, went = sorted(members[1] - members[0]), sorted(members[0] - members[1])
    if came:
        words = ["member_joined", "member_left"] if went else ["member_joined"]
        return _tell(*words, member=came[0])
    if went:
        return _tell("member_left", member=went[0])
    more = {topic for topic, _ in {*owned[1]} - {*owned[0]}}
    had = {topic for topic, _ in {*owned[0]} & {*owned[1]}}
    if grown := sorted(more & had & written):
        return _tell("partitions_added", topic=grown[0])
    differing = sorted({*owned[0]} ^ {*owned[1]})
    return _tell("topic_changed", topic=differing[0][0]) if differing else _tell("unknown")


def _tell(*words: str, member: str | None = None, topic: str | None = None) -> Row:
    named = {"trigger_member_id": member, "trigger_topic": topic, "trigger_exit": None}
    return {"trigger": words[0], "triggers": list(words), **named}
