"""A ZooKeeper group as it stands, what it should own, and which changes make it rebalance."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.rebalance_changes import Change, is_known, matches, subscribes
from tests.reference.fold.things import Group as GroupKey
from tests.reference.fold.things import Member, Owner, Topic

Partition = tuple[str, int]


class Group:
    """A group as it stands after each change."""

    def __init__(self, group_id: str) -> None:
        self.key = GroupKey("zookeeper", group_id)
        self.members: dict[str, Member] = {}
        self.owners: dict[Partition, Owner] = {}
        self.topics: dict[str, Topic] = {}

    def apply(self, change: Change) -> None:
        """One change."""
        things: dict[Any, Any] = getattr(self, f"{change.what}s")
        things.pop(change.key, None)
        if change.after is not None:
            things[change.key] = change.after

    def see(self, change: Change) -> Change:
        """The change, as it is to this group before it is applied."""
        is_matched = change.what == "topic" and any(
            matches(member, change.key) for member in self.members.values()
        )
        return change._replace(is_matched=is_matched)

    def find_expected(self, owned: dict[Partition, Owner]) -> set[Partition]:
        """What should have an owner; `owned`: what had one, where a subscription is unknown."""
        expected = {
            (name, partition)
            for name, topic in self.topics.items()
            for partition in topic.partitions or ()
            if any(subscribes(member, name) for member in self.members.values())
        }
        if not all(is_known(member) for member in self.members.values()):
            expected |= {key for key in owned if key[0] in self.topics}
        return expected


def is_causal(change: Change, group: Group) -> bool:
    """It begins an episode, or prolongs one."""
    if change.cause == "seen" or (change.what == "member" and change.kind == "changed"):
        return False
    if change.what == "topic":
        return any(subscribes(member, change.key) for member in group.members.values())
    return True


def is_weak(change: Change) -> bool:
    """A topic was written, but has the partitions that it had, as far as is known.

    Or it went, and all who read it gave its name: consumers do not listen for that.
    """
    if change.what != "topic":
        return False
    if change.kind != "changed":
        return change.kind == "went" and not change.is_matched
    parts = (change.before.partitions, change.after.partitions)
    return None in parts or parts[0] == parts[1]


def find_trigger(change: Change) -> tuple[str, str | None, str | None] | None:
    """(word, member, topic), where the change is a reason to rebalance."""
    if change.cause == "resync":
        return None
    if change.what == "topic":
        if change.kind != "changed":
            word = "topic_matched" if change.is_matched else "topic_changed"
            return word, None, change.key
        was, now = change.before.partitions, change.after.partitions
        is_more = None not in (was, now) and bool({*now} - {*was})
        return "partitions_added" if is_more else "topic_changed", None, change.key
    if change.what == "member":
        left = "session_ended" if change.cause == "session_ended" else "member_left"
        return "member_joined" if change.kind == "came" else left, change.key, None
    is_death = change.kind == "went" and change.cause == "session_ended"
    return ("session_ended", change.before.member_id, None) if is_death else None
