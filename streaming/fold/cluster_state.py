"""What stands in one cluster: who is a member, who owns what, which partitions a topic has.

Pure. It follows every event of the log; ZooKeeper's part is then the same as the open rows of
consumer_membership, ownership_history and topics (streaming/fold/recalling.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streaming.fold import kafka_groups
from streaming.fold.changes import (
    Change,
    GroupKey,
    KafkaGroup,
    MemberState,
    OwnerState,
    PartitionKey,
    TopicState,
)
from streaming.fold.context import Context, begins_blindness
from streaming.fold.subscriptions import ANYTHING, Subscribed
from streaming.fold.znodes import MEMBER, OWNER, TOPIC, take
from zklake.events.envelope import Event
from zklake.events.payloads.reading import read_number

Key = TypeVar("Key", str, PartitionKey)
Thing = TypeVar("Thing", MemberState, OwnerState, TopicState)


@dataclass
class ClusterState:
    """All that stands after the last event that was followed; no group's dict is ever empty."""

    members: dict[GroupKey, dict[str, MemberState]] = field(default_factory=dict)
    owners: dict[GroupKey, dict[PartitionKey, OwnerState]] = field(default_factory=dict)
    topics: dict[str, TopicState] = field(default_factory=dict)
    kafka_groups: dict[str, KafkaGroup] = field(default_factory=dict)
    # Ids of the gaps of the whole tree that are in force.
    gaps: set[str] = field(default_factory=set)

    @property
    def is_blind(self) -> bool:
        """Between a gap and the next in_sync: nothing that compares two paths may be concluded."""
        return bool(self.gaps)

    def find_subscribed(self, group: GroupKey) -> Subscribed:
        """What its members read, also where nobody could say who is one."""
        known = self._find_kafka(group)
        if known is not None and known.has_members is None:
            return ANYTHING
        return Subscribed.read(self.members.get(group, {}).values())

    def knows_owners(self, group: GroupKey) -> bool:
        """Whether a partition that nobody is said to own has no owner."""
        known = self._find_kafka(group)
        return known is None or (known.has_members is not None and known.is_assigned)

    def _find_kafka(self, group: GroupKey) -> KafkaGroup | None:
        return self.kafka_groups.get(group.group_id) if group.coordinator == "kafka" else None

    def apply(self, event: Event, context: Context) -> tuple[Change, ...]:
        """Take one event; what it changed, in a fixed order."""
        match event.op:
            case "group_state" if event.group_state is not None:
                return tuple(kafka_groups.apply_state(self, event, event.group_state))
            case "log_ends":
                return tuple(kafka_groups.apply_round(self, event))
            case "gap" | "in_sync":
                return tuple(self._apply_sight(event, context))
        return tuple(self._apply_znode(event, context))

    def _apply_znode(self, event: Event, context: Context) -> list[Change]:
        parts = (event.path or "").split("/")
        match event.kind, len(parts):
            case "consumer", 5:
                return self._apply_member(event, context, parts[2], parts[4])
            case "owner", 6:
                return self._apply_owner(event, context, parts[2], parts[4:])
            case "topic", 4:
                return take(self.topics, parts[3], TOPIC, event, context, topic=parts[3])
        return []

    def _apply_member(
        self, event: Event, context: Context, group_id: str, member_id: str
    ) -> list[Change]:
        group = GroupKey("zookeeper", group_id)
        book = self.members.setdefault(group, {})
        changes = take(book, member_id, MEMBER, event, context, group=group, member_id=member_id)
        prune(self.members, group)
        return changes

    def _apply_owner(
        self, event: Event, context: Context, group_id: str, names: list[str]
    ) -> list[Change]:
        topic, number = names[0], read_number(names[1])
        # 0.7 names the broker too, [broker]-[partition]: such owners are not followed here.
        if number is None:
            return []
        group, key = GroupKey("zookeeper", group_id), PartitionKey(topic, number)
        book = self.owners.setdefault(group, {})
        changes = take(book, key, OWNER, event, context, group=group, **key._asdict())
        prune(self.owners, group)
        return changes

    def _apply_sight(self, event: Event, context: Context) -> list[Change]:
        if event.op == "gap" and event.gap is not None and begins_blindness(event):
            self.gaps.add(event.gap.id)
        if event.op != "in_sync":
            return []
        self.gaps.clear()
        return [] if context.closure is None else self._close(context.closure.begin_seq)

    def _close(self, begin_seq: int) -> list[Change]:
        """Remove what was last seen before a frame began. Kafka's groups are not in the tree."""
        changes: list[Change] = []
        for group in _find_zookeeper(self.members):
            for member_id, gone in _drop(self.members[group], begin_seq):
                place: dict[str, Any] = {"group": group, "member_id": member_id}
                changes.append(Change("member_left", "resync", gone, None, **place))
            prune(self.members, group)
        for group in _find_zookeeper(self.owners):
            for key, owner in _drop(self.owners[group], begin_seq):
                place = {"group": group, **key._asdict()}
                changes.append(Change("owner_released", "resync", owner, None, **place))
            prune(self.owners, group)
        for topic, state in _drop(self.topics, begin_seq):
            changes.append(Change("topic_deleted", "resync", state, None, topic=topic))
        return changes


def prune(books: dict[GroupKey, Any], group: GroupKey) -> None:
    """Forget a group of which nothing is left."""
    if group in books and not books[group]:
        del books[group]


def _find_zookeeper(books: Iterable[GroupKey]) -> list[GroupKey]:
    return sorted(group for group in books if group.coordinator == "zookeeper")


def _drop(book: dict[Key, Thing], begin_seq: int) -> list[tuple[Key, Thing]]:
    gone = sorted((key, each) for key, each in book.items() if each.seen_seq < begin_seq)
    for key, _ in gone:
        del book[key]
    return gone
