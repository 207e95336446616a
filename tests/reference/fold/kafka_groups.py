"""Rows of Kafka-stored groups, one sample after the other: commits, members, assignments."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.intervals import Intervals
from tests.reference.fold.keys import Place
from tests.reference.fold.payloads import timestamp
from tests.reference.fold.states import OPEN, State, end
from zklake.events.envelope import Event
from zklake.events.samples import Commit, GroupState, Member

Row = dict[str, Any]

# Of a znode only.
_NO_ZNODE: Row = {
    "czxid": None,
    "znode_version": None,
    "fidelity": "exact",
    "is_known": True,
    "decode_error": None,
    "unseen_versions": None,
    "valid_from_zxid": None,
}


class KafkaGroups:
    """The kafka rows of the three tables of groups."""

    def __init__(self, members: Intervals, owners: Intervals, offsets: Intervals) -> None:
        self.members, self.owners, self.offsets = members, owners, offsets

    def take(self, event: Event) -> None:
        """Any sample."""
        if event.group_commit is not None:
            self._take_commits(event, event.group_commit.commits)
        if event.group_state is not None:
            self._take_state(event, event.group_state)
        if event.log_ends is not None:
            self._take_round(event)

    def _take_commits(self, event: Event, commits: tuple[Commit, ...]) -> None:
        told: dict[tuple[Any, ...], Commit] = {}
        for commit in commits:
            told.setdefault((commit.group_id, commit.topic, commit.partition), commit)
        for (group_id, topic, partition), commit in told.items():
            if partition < 0:
                continue
            place = _place_of_partition("consumer_offsets", group_id, topic, partition)
            at = _find_time(event, commit.commit_at_ms)
            if commit.tombstone:
                _end(self.offsets, place.identity, "deleted", event, at)
            else:
                values = {"committed_offset": commit.committed_offset}
                _tell(self.offsets, place, event, at, values)

    def _take_state(self, event: Event, group: GroupState) -> None:
        at = _find_time(event, group.at_ms)
        told = () if group.tombstone else group.members or ()
        named = {
            *(self._take_member(event, at, group, member) for member in _first_of_each(told)),
            *self._take_owners(event, at, group, told),
        }
        word = "deleted"
        if group.members is None and not group.tombstone and group.state != "Empty":
            word = "unreadable"
        for table in (self.members, self.owners):
            for identity in list(table.standing):
                key = dict(identity)
                is_ours = (key["coordinator"], key["group_id"]) == ("kafka", group.group_id)
                if is_ours and identity not in named:
                    _end(table, identity, word, event, at)

    def _take_member(
        self, event: Event, at: int | None, group: GroupState, member: Member
    ) -> tuple[Any, ...]:
        key = {"coordinator": "kafka", "group_id": group.group_id, "member_id": member.member_id}
        topics = member.subscription
        values = {
            "pattern": None if topics is None else "static",
            "subscription": None if topics is None else dict.fromkeys(sorted(topics), 1),
            "host": member.client_host,
            "client_id": member.client_id,
            "group_instance_id": member.group_instance_id,
        }
        others = {
            "registered_at": None,
            "registration_version": None,
            "session": None,
            "generation": group.generation,
        }
        place = Place("consumer_membership", key)
        _tell(self.members, place, event, at, values, others)
        return place.identity

    def _take_owners(
        self, event: Event, at: int | None, group: GroupState, told: tuple[Member, ...]
    ) -> set[tuple[Any, ...]]:
        owners: dict[tuple[str, int], str] = {}
        for member in told:
            for assigned in member.assignment or ():
                for partition in assigned.partitions:
                    owners.setdefault((assigned.topic, partition), member.member_id)
        named = set()
        for (topic, partition), owner in owners.items():
            if partition < 0:
                continue
            place = _place_of_partition("ownership_history", group.group_id, topic, partition)
            values = {"owner": owner, "owner_member_id": owner}
            _tell(self.owners, place, event, at, values, {"owner_stream": None, "session": None})
            named.add(place.identity)
        return named

    def _take_round(self, event: Event) -> None:
        """A round that vouches for all groups: what was said only before is gone."""
        ended = event.log_ends.round if event.log_ends else None
        groups = ended.groups if ended else None
        if groups is None or groups.complete_since_seq is None:
            return
        if groups.reason is None and groups.partitions_behind == 0:
            for table in (self.members, self.owners, self.offsets):
                table.close_unseen(event, groups.complete_since_seq, None, "kafka")


def _first_of_each(members: tuple[Member, ...]) -> list[Member]:
    return list({member.member_id: member for member in reversed(members)}.values())


def _find_time(event: Event, at_ms: int | None) -> int | None:
    return timestamp(event.observed_at_ms if at_ms is None else at_ms)


def _place_of_partition(table: str, group_id: str, topic: str, partition: int) -> Place:
    key = {"coordinator": "kafka", "group_id": group_id, "topic": topic, "partition": partition}
    return Place(table, {**key, "broker_id": None})


def _tell(
    table: Intervals,
    place: Place,
    event: Event,
    at: int | None,
    values: Row,
    others: Row | None = None,
) -> None:
    """A key's state, as said; the same as before is only seen."""
    standing = table.standing.get(place.identity)
    if standing is not None:
        if {name: standing.row[name] for name in values} == values:
            standing.see(event)
            return
        end(standing.row, "changed", event.seq, None, at)
    row = {
        **place.key,
        **values,
        **(others or {}),
        **_NO_ZNODE,
        "seen_seq": event.seq,
        "valid_from_seq": event.seq,
        "valid_from_at": at,
        **OPEN,
    }
    state = State(event, row, is_blank=False)
    table.states.append(state)
    table.standing[place.identity] = state


def _end(
    table: Intervals, identity: tuple[Any, ...], word: str, event: Event, at: int | None
) -> None:
    state = table.standing.pop(identity, None)
    if state is not None:
        end(state.row, word, event.seq, None, at)
