"""All partitions of groups of a cluster, by group, and the marks that wait for the next round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.cluster_state import ClusterState
from streaming.fold.lag.group_partition import Commit, GroupPartition, LagGroup
from streaming.fold.lag.partition import Partitions


@dataclass
class GroupPartitions:
    """Who is or may become a row of offset_lag.

    Facts change only with rounds. What happens to owners and members between two of them is marked:
    since when nobody is there, or None where somebody is; of several the last counts.
    """

    partitions: Partitions
    groups: dict[GroupKey, LagGroup] = field(default_factory=dict)
    # Those whose commits the next round must look at.
    waiting: dict[GroupPartition, None] = field(default_factory=dict)
    _unowned_marks: dict[GroupPartition, int | None] = field(default_factory=dict)
    _left_marks: dict[GroupPartition, int | None] = field(default_factory=dict)

    def __iter__(self) -> Iterator[GroupPartition]:
        return (each for group in self.groups.values() for each in group.group_partitions.values())

    def find(self, group: GroupKey, key: PartitionKey) -> GroupPartition | None:
        """A group's partition, if it is known."""
        known = self.groups.get(group)
        return None if known is None else known.group_partitions.get(key)

    def get(
        self, group: GroupKey, key: PartitionKey, cluster_state: ClusterState
    ) -> GroupPartition:
        """A group's partition, made when missing."""
        known = self.groups.get(group)
        group_partition = None if known is None else known.group_partitions.get(key)
        return group_partition or self._make(known, group, key, cluster_state)

    def _make(
        self,
        known: LagGroup | None,
        group: GroupKey,
        key: PartitionKey,
        cluster_state: ClusterState,
    ) -> GroupPartition:
        if known is None:
            subscribed = cluster_state.find_subscribed(group)
            known = self.groups[group] = LagGroup(
                group, subscribed, cluster_state.knows_owners(group)
            )
        if key.topic not in known.live:
            known.live[key.topic] = bool(known.subscribed.find_read((key.topic,)))
        partition = self.partitions.get(*key)
        group_partition = known.group_partitions[key] = GroupPartition(known, partition)
        partition.group_partitions.append(group_partition)
        self._pair(group_partition, key)
        return group_partition

    def _pair(self, group_partition: GroupPartition, key: PartitionKey) -> None:
        coordinator, group_id = group_partition.group.key
        other = GroupKey("zookeeper" if coordinator == "kafka" else "kafka", group_id)
        twin = self.find(other, key)
        if twin is not None:
            group_partition.twin, twin.twin = twin, group_partition

    def remove(self, group_partition: GroupPartition) -> None:
        """Forget a group's partition."""
        key = PartitionKey(group_partition.partition.topic, group_partition.partition.number)
        group_partition.partition.group_partitions.remove(group_partition)
        del group_partition.group.group_partitions[key]
        if not group_partition.group.group_partitions:
            del self.groups[group_partition.group.key]
        if group_partition.twin is not None:
            group_partition.twin.twin, group_partition.twin.version = None, -1
        self.waiting.pop(group_partition, None)
        self._unowned_marks.pop(group_partition, None)
        self._left_marks.pop(group_partition, None)

    def note_owner(
        self, group: GroupKey, key: PartitionKey, cluster_state: ClusterState, word: str, at_ms: int
    ) -> None:
        """An owner came, changed or went."""
        owner = cluster_state.owners.get(group, {}).get(key)
        group_partition = self.find(group, key)
        if group_partition is None:
            if owner is None:
                return
            group_partition = self.get(group, key, cluster_state)
        if group_partition.has_owner and owner is None:
            group_partition.gone_by = word
        was_unowned = group_partition.is_unowned
        group_partition.has_owner = owner is not None
        group_partition.owner = None if owner is None else owner.owner
        group_partition.owner_member_id = None if owner is None else owner.owner_member_id
        group_partition.claim_ms = None if owner is None else owner.from_ms
        group_partition.version = -1
        self._mark_unowned(group_partition, was_unowned, at_ms)

    def _mark_unowned(self, group_partition: GroupPartition, was_unowned: bool, at_ms: int) -> None:
        if group_partition.is_unowned != was_unowned:
            self._unowned_marks[group_partition] = None if was_unowned else at_ms

    def note_members(self, group: GroupKey, cluster_state: ClusterState, at_ms: int) -> None:
        """Members of a group came, went or subscribed anew; once per event, after its owners."""
        known = self.groups.get(group)
        if known is None:
            return
        now = cluster_state.find_subscribed(group), cluster_state.knows_owners(group)
        if now == (known.subscribed, known.knows_owners):
            return
        former = [(each, each.is_live, each.is_unowned) for each in known.group_partitions.values()]
        known.subscribed, known.knows_owners = now
        topics = {key.topic for key in known.group_partitions}
        read = known.subscribed.find_read(topics)
        known.live = {topic: topic in read for topic in topics}
        for group_partition, was_live, was_unowned in former:
            if group_partition.is_live != was_live:
                self._left_marks[group_partition] = at_ms if was_live else None
            self._mark_unowned(group_partition, was_unowned, at_ms)

    def note_topic(self, topic: str, incarnation: int | None) -> None:
        """A topic came to stand: commits that found none are taken for its own."""
        for partition in self.partitions.of(topic):
            for group_partition in partition.group_partitions:
                self.waiting[group_partition] = None
                commits: list[Commit | None] = [group_partition.commit, *group_partition.waiting]
                for commit in commits:
                    if commit is not None and commit.incarnation is None:
                        commit.incarnation = incarnation

    def apply_marks(self) -> None:
        """Make the marks facts; of groups' partitions without a row there are none."""
        for group_partition, unowned_ms in self._unowned_marks.items():
            group_partition.version = -1
            if group_partition.facts is not None:
                group_partition.facts.unowned_ms = unowned_ms
        for group_partition, left_ms in self._left_marks.items():
            group_partition.version = -1
            if group_partition.facts is not None:
                group_partition.facts.left_ms, group_partition.facts.is_peopled = left_ms, True
        self.drop_marks()

    def drop_marks(self) -> None:
        """Forget the marks: the rows have it all."""
        self._unowned_marks.clear()
        self._left_marks.clear()
