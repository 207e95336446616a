"""What happens between rounds: commits, owners, members and topics that come and go.

Nothing of it touches a row; the next round looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from streaming.fold.changes import Change, PartitionKey, TopicState
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.lag import commits
from streaming.fold.lag.group_partition import GroupPartition
from streaming.fold.lag.group_partitions import GroupPartitions
from streaming.fold.lag.topics import Topics, find_incarnation
from zklake.events.envelope import Event
from zklake.events.samples import Round


@dataclass
class PendingChanges:
    """Takes events into the groups' partitions of a cluster."""

    group_partitions: GroupPartitions
    topics: Topics = field(default_factory=Topics)
    # The largest after_seq of all rounds: commits up to there count.
    after_seq: int | None = None
    _complete_seq: int | None = None

    def apply_changes(
        self, changes: Sequence[Change], event: Event, cluster_state: ClusterState
    ) -> None:
        """Something else stands now."""
        for change in changes:
            self._apply_change(change, event, cluster_state)
        if event.kind == "topic":
            self._apply_topic(event, cluster_state)
        groups = {c.group: None for c in changes if c.group and not c.kind.startswith("owner_")}
        for group in groups:
            self.group_partitions.note_members(group, cluster_state, event.observed_at_ms)

    def _apply_change(self, change: Change, event: Event, cluster_state: ClusterState) -> None:
        group, topic = change.group, change.topic
        if change.kind.startswith("owner_") and group is not None and topic is not None:
            key = PartitionKey(topic, change.partition or 0)
            word = "resync" if change.cause == "resync" else "deleted"
            self.group_partitions.note_owner(group, key, cluster_state, word, event.observed_at_ms)
        elif change.kind == "topic_deleted" and topic is not None:
            before = change.before.incarnation if isinstance(change.before, TopicState) else None
            self.topics.note_end(topic, event.seq, before)

    def _apply_topic(self, event: Event, cluster_state: ClusterState) -> None:
        """A superseded create shows no incarnation: the next state does, be it a change or not."""
        topic = (event.path or "").split("/")[-1]
        state = cluster_state.topics.get(topic)
        if state is not None and state.from_seq == event.seq:
            self.group_partitions.note_topic(topic, state.incarnation)

    def apply_commits(
        self, event: Event, cluster_state: ClusterState, context: Context
    ) -> Sequence[GroupPartition]:
        """Commits that an event shows or ends; those for which it has something new."""
        news: Sequence[GroupPartition] = ()
        if event.kind == "offset":
            news = [*self._apply_znode(event, cluster_state)]
        elif event.op == "group_commit":
            news = [*self._apply_commit(event, cluster_state)]
        elif context.closure is not None:
            self._end_before("zookeeper", context.closure.begin_seq, event.seq)
        self.group_partitions.waiting.update(dict.fromkeys(news))
        return news

    def _apply_znode(self, event: Event, cluster_state: ClusterState) -> Iterator[GroupPartition]:
        where = commits.find_offset_znode(event.path or "")
        if where is None:
            return
        incarnation = find_incarnation(cluster_state, where.partition.topic)
        group_partition = self.group_partitions.get(*where, cluster_state)
        if commits.apply_znode(
            group_partition, event, incarnation, commits.find_limit(self.after_seq)
        ):
            yield group_partition

    def _apply_commit(self, event: Event, cluster_state: ClusterState) -> Iterator[GroupPartition]:
        limit = commits.find_limit(self.after_seq)
        for group, key, said in commits.list_said(event):
            group_partition = self.group_partitions.get(group, key, cluster_state)
            incarnation = find_incarnation(cluster_state, key.topic)
            if commits.apply_commit(group_partition, said, event, incarnation, limit):
                yield group_partition

    def apply_round(self, ended: Round, seq: int) -> None:
        """A round that vouches for all Kafka-stored groups ends what was said only before."""
        since_seq = ended.groups.vouched_since_seq if ended.groups else None
        if since_seq is not None and since_seq != self._complete_seq:
            self._complete_seq = since_seq
            self._end_before("kafka", since_seq, seq)
        self.after_seq = max(ended.after_seq, self.after_seq or 0)

    def _end_before(self, coordinator: str, since_seq: int, seq: int) -> None:
        limit = commits.find_limit(self.after_seq)
        for group_partition in self.group_partitions:
            is_mine = group_partition.group.key.coordinator == coordinator
            if is_mine and group_partition.has_commit and group_partition.seen_seq < since_seq:
                commits.apply_end(group_partition, seq, "resync", limit)
                self.group_partitions.waiting[group_partition] = None

    def count_commits(self, at_ms: int, *, with_facts: bool) -> None:
        """Let commits count that came before the requests of some round."""
        waiting, after_seq = self.group_partitions.waiting, self.after_seq
        assert after_seq is not None
        for group_partition in list(waiting):
            if commits.take_over(group_partition, after_seq, at_ms, with_facts=with_facts):
                group_partition.version = -1
                if group_partition.twin is not None:
                    group_partition.twin.version = -1
            if not group_partition.waiting:
                del waiting[group_partition]
