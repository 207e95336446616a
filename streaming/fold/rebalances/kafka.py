"""Rebalances of Kafka-stored groups: each step of the generation is one, written when it was over.

Pure. How long it took, and who was without an owner meanwhile, no record says.
"""

from __future__ import annotations

from collections.abc import Sequence

from streaming.fold.changes import Change, GroupKey, KafkaGroup
from streaming.fold.cluster_state import ClusterState
from streaming.fold.life import Moment
from streaming.fold.rebalances.episode import RESULTS
from streaming.fold.row import Row, end_row, open_row
from zklake.events.envelope import Event

_DIFFERENCES = (
    *("member_joined", "member_left"),
    *("owner_claimed", "owner_changed", "owner_released"),
)


def read_rebalance(
    event: Event, changes: Sequence[Change], cluster_state: ClusterState, said_seq: int
) -> Row | None:
    """The row of the rebalance that a group_state shows, if any; `changes` are all its own.

    `said_seq`: when the group was published before.
    """
    said = event.group_state
    if said is None or not changes:
        return None
    group = GroupKey("kafka", said.group_id)
    before, after = _find_sides(changes, cluster_state, group)
    if before is None or after is None or not _is_step(before, after, changes):
        return None
    moment = Moment(event.seq, None, event.observed_at_ms if said.at_ms is None else said.at_ms)
    columns: Row = {
        **group._asdict(),
        **_find_trigger(
            before, after, changes, _find_grown(changes, cluster_state, group, said_seq)
        ),
        "generation": after.generation,
        **dict.fromkeys(("members_before", *RESULTS)),
        **_count_members(event, before, after, changes),
        **_count_partitions(before, after, changes, len(cluster_state.owners.get(group, ()))),
        "attempts": _count_generations(before, after),
        "outcome": "settled",
        "fold_state": None,
    }
    row = open_row(event.cluster, moment.seq, moment.zxid, moment.at_ms, **columns)
    end_row(row, moment, "settled")
    return row


def _find_sides(
    changes: Sequence[Change], cluster_state: ClusterState, group: GroupKey
) -> tuple[KafkaGroup | None, KafkaGroup | None]:
    after = cluster_state.kafka_groups.get(group.group_id)
    for change in changes:
        if change.kind == "group_changed":
            return (change.before if isinstance(change.before, KafkaGroup) else None), after
    return after, after


def _is_step(before: KafkaGroup, after: KafkaGroup, changes: Sequence[Change]) -> bool:
    if None in (before.generation, after.generation):
        return any(change.kind in _DIFFERENCES for change in changes)
    return before.generation != after.generation


def _count_generations(before: KafkaGroup, after: KafkaGroup) -> int | None:
    if before.generation is None or after.generation is None:
        return None
    steps = after.generation - before.generation
    return steps if steps > 1 else None


def _find_grown(
    changes: Sequence[Change], cluster_state: ClusterState, group: GroupKey, said_seq: int
) -> list[str]:
    """Topics of which the group got more than it had, written since it was published before.

    A cooperative assignor takes partitions back in one generation and hands them out in the next:
    what was claimed need not be new.
    """
    claimed = {(c.topic, c.partition) for c in changes if c.kind == "owner_claimed"}
    kept = {key.topic for key in cluster_state.owners.get(group, ()) if key not in claimed}
    return sorted(
        topic
        for topic in {topic for topic, _ in claimed} & kept
        if topic in cluster_state.topics and cluster_state.topics[topic].from_seq > said_seq
    )


def _find_trigger(
    before: KafkaGroup, after: KafkaGroup, changes: Sequence[Change], grown: Sequence[str]
) -> Row:
    words: list[str] = []
    member_id = topic = None
    if None not in (before.has_members, after.has_members):
        kinds = {change.kind for change in changes}
        words = [word for word in ("member_joined", "member_left") if word in kinds]
        if words:
            member_id = min(c.member_id or "" for c in changes if c.kind == words[0])
        elif grown:
            words, topic = ["partitions_added"], grown[0]
        elif kinds & {"owner_claimed", "owner_released"}:
            words = ["topic_changed"]
            moved = ("owner_claimed", "owner_released")
            topic = min(c.topic or "" for c in changes if c.kind in moved)
    words = words or ["unknown"]
    return {
        "trigger": words[0],
        "trigger_member_id": member_id,
        "trigger_topic": topic,
        "trigger_exit": None,
        "triggers": words,
    }


def _count_members(
    event: Event, before: KafkaGroup, after: KafkaGroup, changes: Sequence[Change]
) -> Row:
    assert event.group_state is not None
    joined, left = _count(changes, "member_joined"), _count(changes, "member_left")
    members = event.group_state.members or ()
    now = len({member.member_id for member in members})
    known = None if before.has_members is None else now - joined + left
    after_count = event.group_state.member_count if after.has_members is None else now
    return {"members_before": known, "members_after": after_count}


def _count_partitions(
    before: KafkaGroup, after: KafkaGroup, changes: Sequence[Change], owned: int
) -> Row:
    if after.has_members is None:
        return {}
    if before.has_members is None:
        return {"partitions": owned}
    moved = _count(changes, "owner_changed")
    return {
        "partitions": owned,
        "moved": moved,
        "reacquired": owned - moved - _count(changes, "owner_claimed"),
        "left_unowned": _count(changes, "owner_released"),
    }


def _count(changes: Sequence[Change], kind: str) -> int:
    return sum(change.kind == kind for change in changes)
