"""Kafka-stored groups: their members, owners and commits, as the samples tell them."""

from __future__ import annotations

from dataclasses import replace

from tests.reference.fold.keys import MAX_INT
from tests.reference.fold.payloads import timestamp
from tests.reference.fold.things import Commit, Group, Member, Owner, Subject
from zklake.events.envelope import Event
from zklake.events.samples import GroupState
from zklake.events.samples import Member as ToldMember


class KafkaPresence:
    """All of one cluster, and when each group was last said."""

    def __init__(self) -> None:
        self.members: dict[tuple[Group, str], Member] = {}
        self.owners: dict[Subject, Owner] = {}
        self.commits: dict[Subject, Commit] = {}
        # Groups of which it is not known who is in them.
        self.unknown: set[Group] = set()
        # Groups of which some member may own more than was said.
        self.unassigned: set[Group] = set()
        # When each was last said.
        self.said: dict[Group | Subject, int] = {}

    def take(self, event: Event) -> None:
        """A sample, or anything else."""
        if event.op == "group_state" and event.group_state:
            self._replace(event, event.group_state)
        elif event.op == "group_commit":
            self._commit(event)
        elif event.op == "log_ends" and event.log_ends and event.log_ends.round:
            groups = event.log_ends.round.groups
            if groups and groups.reason is None and not groups.partitions_behind:
                self._forget_before(groups.complete_since_seq or 0)

    def _commit(self, event: Event) -> None:
        assert event.group_commit is not None
        named = set()
        for commit in event.group_commit.commits:
            key = Subject("kafka", commit.group_id, commit.topic, commit.partition)
            if key in named or not 0 <= commit.partition <= MAX_INT:
                continue
            named.add(key)
            self.said[key] = event.seq
            at = event.observed_at_ms if commit.commit_at_ms is None else commit.commit_at_ms
            former = self.commits.get(key)
            if commit.tombstone:
                self.commits.pop(key, None)
            elif former is None or former.offset != commit.committed_offset:
                # The same offset again is no news.
                self.commits[key] = Commit(event.seq, commit.committed_offset, timestamp(at), None)

    def _replace(self, event: Event, state: GroupState) -> None:
        group = Group("kafka", state.group_id)
        members = {key: one for key, one in self.members.items() if key[0] == group}
        owners = {key: one for key, one in self.owners.items() if key.group == group}
        self._drop(group)
        if state.tombstone:
            return
        self.said[group] = event.seq
        if state.members is None:
            if state.state != "Empty":
                self.unknown.add(group)
                self.unassigned.add(group)
            return
        if any(member.assignment is None for member in state.members):
            self.unassigned.add(group)
        for member in state.members:
            self._name(event, (group, member.member_id), member, members)
            for assigned in member.assignment or ():
                for partition in assigned.partitions:
                    subject = Subject(*group, assigned.topic, partition)
                    self._assign(event, subject, member.member_id, owners.get(subject))

    def _name(
        self,
        event: Event,
        key: tuple[Group, str],
        told: ToldMember,
        formers: dict[tuple[Group, str], Member],
    ) -> None:
        """Of a member named twice the first counts."""
        if key in self.members:
            return
        subscription = None if told.subscription is None else dict.fromkeys(told.subscription, 1)
        pattern = None if told.subscription is None else "static"
        new = Member(event.seq, event.seq, "group_state", None, pattern, subscription, None)
        former = formers.get(key)
        self.members[key] = replace(new, seq=former.seq, life=former.life) if former else new

    def _assign(self, event: Event, key: Subject, name: str, former: Owner | None) -> None:
        """Of a partition assigned twice the first counts."""
        if key in self.owners or not 0 <= key.partition <= MAX_INT:
            return
        new = Owner(event.seq, event.seq, "group_state", None, name, name, None)
        self.owners[key] = former if former and former.owner == name else new

    def _drop(self, group: Group) -> None:
        self.members = {key: one for key, one in self.members.items() if key[0] != group}
        self.owners = {key: one for key, one in self.owners.items() if key.group != group}
        self.unknown.discard(group)
        self.unassigned.discard(group)
        self.said.pop(group, None)

    def _forget_before(self, seq: int) -> None:
        for name, said in list(self.said.items()):
            if said >= seq:
                continue
            if isinstance(name, Group):
                self._drop(name)
            else:
                self.commits.pop(name, None)
