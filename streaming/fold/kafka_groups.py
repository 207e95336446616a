"""Kafka-stored groups as they stand: what a group_state, and a round that vouches for all, change.

Pure. A group_state says all of its group: members and who is assigned what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from delta_tables.observation import read_millis
from streaming.fold.changes import (
    Cause,
    Change,
    GroupKey,
    KafkaGroup,
    MemberState,
    OwnerState,
    PartitionKey,
)
from streaming.fold.life import Moment
from zklake.events.envelope import Event
from zklake.events.payloads.reading import LARGEST_INT
from zklake.events.samples import GroupState, Member

if TYPE_CHECKING:
    from streaming.fold.cluster_state import ClusterState

_IDENTITY = ("subscription", "client_id", "host", "group_instance_id")


def apply_state(cluster_state: ClusterState, event: Event, said: GroupState) -> Iterator[Change]:
    """A group as published; a tombstone, and an Empty one without members, have none."""
    group = GroupKey("kafka", said.group_id)
    listed = () if said.tombstone else (said.members or ())
    at_ms = read_millis(event.observed_at_ms if said.at_ms is None else said.at_ms)
    yield from _turn(cluster_state, group, Moment(event.seq, None, at_ms), listed, "event")
    is_known = said.tombstone or said.members is not None or said.state == "Empty"
    after = KafkaGroup(
        said.generation,
        said.state,
        said.protocol_type,
        event.seq,
        bool(listed) if is_known else None,
        all(member.assignment is not None for member in listed),
    )
    yield from _turn_group(cluster_state, said.group_id, None if said.tombstone else after, "event")


def apply_round(cluster_state: ClusterState, event: Event) -> Iterator[Change]:
    """A round that vouches for all groups: those last said before are gone."""
    ends = event.log_ends
    reading = ends.round.groups if ends and ends.round else None
    since = reading.vouched_since_seq if reading else None
    if since is None:
        return
    stale = [each for each, known in cluster_state.kafka_groups.items() if known.seen_seq < since]
    for group_id in sorted(stale):
        moment = Moment(event.seq, None, None)
        yield from _turn(cluster_state, GroupKey("kafka", group_id), moment, (), "resync")
        yield from _turn_group(cluster_state, group_id, None, "resync")


def _turn(
    cluster_state: ClusterState,
    group: GroupKey,
    moment: Moment,
    listed: tuple[Member, ...],
    cause: Cause,
) -> Iterator[Change]:
    """Owners that went, members that went, came or changed, owners that came or changed."""
    seq, _, at_ms, _ = moment
    owners = {key: member_id for member_id, key in _list_assigned(listed)}
    held = cluster_state.owners.get(group, {})
    for key in sorted(held.keys() - owners.keys()):
        yield Change("owner_released", cause, held[key], None, group, None, *key)
    # Of one named twice the first mention counts.
    members = {each.member_id: _read_member(each, seq) for each in reversed(listed)}
    yield from _compare_members(group, cluster_state.members.get(group, {}), members, cause)
    kept: dict[PartitionKey, OwnerState] = {}
    for key in sorted(owners):
        member_id, before = owners[key], held.get(key)
        if before is not None and before.owner_member_id == member_id:
            kept[key] = replace(before, seen_seq=seq)
            continue
        after = kept[key] = OwnerState(member_id, member_id, None, seq, at_ms, seq)
        kind: Any = "owner_claimed" if before is None else "owner_changed"
        yield Change(kind, cause, before, after, group, None, *key)
    _put(cluster_state.members, group, members)
    _put(cluster_state.owners, group, kept)


def _compare_members(
    group: GroupKey,
    before: Mapping[str, MemberState],
    after: Mapping[str, MemberState],
    cause: Cause,
) -> Iterator[Change]:
    for member_id in sorted(before.keys() - after.keys()):
        yield Change("member_left", cause, before[member_id], None, group, member_id)
    for member_id in sorted(after):
        former, now = before.get(member_id), after[member_id]
        if former is None:
            yield Change("member_joined", cause, None, now, group, member_id)
        elif any(getattr(former, name) != getattr(now, name) for name in _IDENTITY):
            yield Change("member_changed", cause, former, now, group, member_id)


def _turn_group(
    cluster_state: ClusterState, group_id: str, after: KafkaGroup | None, cause: Cause
) -> Iterator[Change]:
    before = cluster_state.kafka_groups.pop(group_id, None)
    if after is not None:
        cluster_state.kafka_groups[group_id] = after
    if _summarize(before) != _summarize(after):
        yield Change("group_changed", cause, before, after, GroupKey("kafka", group_id))


def _summarize(group: KafkaGroup | None) -> tuple[Any, ...] | None:
    if group is None:
        return None
    known = group.has_members, group.is_assigned
    return group.generation, group.state, group.protocol_type, *known


def _read_member(member: Member, seq: int) -> MemberState:
    topics = member.subscription
    return MemberState(
        member.member_id,
        pattern=None if topics is None else "static",
        subscription=None if topics is None else dict.fromkeys(topics, 1),
        seen_seq=seq,
        client_id=member.client_id,
        host=member.client_host,
        group_instance_id=member.group_instance_id,
    )


def _list_assigned(listed: tuple[Member, ...]) -> Iterator[tuple[str, PartitionKey]]:
    # Of a partition assigned twice the first member named counts: dicts keep the last.
    for member in reversed(listed):
        for topic in member.assignment or ():
            for partition in topic.partitions:
                if 0 <= partition <= LARGEST_INT:
                    yield member.member_id, PartitionKey(topic.topic, partition)


def _put(books: dict[GroupKey, Any], group: GroupKey, book: Mapping[Any, Any]) -> None:
    if book:
        books[group] = dict(book)
    else:
        books.pop(group, None)
