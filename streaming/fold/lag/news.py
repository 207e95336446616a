"""What happens between rounds: commits, owners, members and topics that come and go.

Nothing of it touches a row; the next round looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streaming.fold.changes import Change, PartitionKey, TopicState
from streaming.fold.context import Context
from streaming.fold.lag import commits
from streaming.fold.lag.subjects import Subjects
from streaming.fold.lag.topics import Topics, find_incarnation
from streaming.fold.standing import Standing
from zklake.events.envelope import Event
from zklake.events.samples import Round


@dataclass
class News:
    """Takes events into the subjects of a cluster."""

    subjects: Subjects
    topics: Topics = field(default_factory=Topics)
    # The largest after_seq of all rounds: commits up to there count.
    after_seq: int | None = None
    _complete_seq: int | None = None

    def take_changes(self, changes: Sequence[Change], event: Event, standing: Standing) -> None:
        """Something else stands now."""
        for change in changes:
            self._take_change(change, event, standing)
        groups = {c.group: None for c in changes if c.group and not c.kind.startswith("owner_")}
        for group in groups:
            self.subjects.note_members(group, standing, event.observed_at_ms)

    def _take_change(self, change: Change, event: Event, standing: Standing) -> None:
        group, topic = change.group, change.topic
        if change.kind.startswith("owner_") and group is not None and topic is not None:
            key = PartitionKey(topic, change.partition or 0)
            word = "resync" if change.cause == "resync" else "deleted"
            self.subjects.note_owner(group, key, standing, word, event.observed_at_ms)
        elif change.kind == "topic_deleted" and topic is not None:
            before = change.before.incarnation if isinstance(change.before, TopicState) else None
            self.topics.note_end(topic, event.seq, before)
        elif change.kind in ("topic_created", "topic_changed") and topic is not None:
            # A create that was superseded tells no incarnation; the next write does.
            self.subjects.note_topic(topic, find_incarnation(standing, topic))

    def take_commits(self, event: Event, standing: Standing, context: Context) -> None:
        """Commits that an event tells or ends."""
        if event.kind == "offset":
            self._take_znode(event, standing)
        elif event.op == "group_commit":
            self._take_said(event, standing)
        elif context.closure is not None:
            self._end_before("zookeeper", context.closure.begin_seq, event.seq)

    def _take_znode(self, event: Event, standing: Standing) -> None:
        where = commits.find_offset_znode(event.path or "")
        if where is None:
            return
        incarnation = find_incarnation(standing, where.partition.topic)
        subject = self.subjects.get(*where, standing)
        if commits.take_znode(subject, event, incarnation, commits.find_limit(self.after_seq)):
            self.subjects.waiting[subject] = None

    def _take_said(self, event: Event, standing: Standing) -> None:
        limit = commits.find_limit(self.after_seq)
        for where, said in commits.list_said(event):
            subject = self.subjects.get(*where, standing)
            incarnation = find_incarnation(standing, where.partition.topic)
            if commits.take_said(subject, said, event, incarnation, limit):
                self.subjects.waiting[subject] = None

    def take_round(self, ended: Round, seq: int) -> None:
        """A round that vouches for all Kafka-stored groups ends what was said only before."""
        since_seq = ended.groups.vouched_since_seq if ended.groups else None
        if since_seq is not None and since_seq != self._complete_seq:
            self._complete_seq = since_seq
            self._end_before("kafka", since_seq, seq)
        self.after_seq = max(ended.after_seq, self.after_seq or 0)

    def _end_before(self, coordinator: str, since_seq: int, seq: int) -> None:
        limit = commits.find_limit(self.after_seq)
        for subject in self.subjects:
            is_mine = subject.group.key.coordinator == coordinator
            if is_mine and subject.has_commit and subject.seen_seq < since_seq:
                commits.take_end(subject, seq, "resync", limit)
                self.subjects.waiting[subject] = None

    def count_commits(self, at_ms: int, *, with_facts: bool) -> None:
        """Let commits count that came before the requests of some round."""
        waiting, after_seq = self.subjects.waiting, self.after_seq
        assert after_seq is not None
        for subject in list(waiting):
            if commits.take_over(subject, after_seq, at_ms, with_facts=with_facts):
                subject.version = -1
                if subject.twin is not None:
                    subject.twin.version = -1
            if not subject.waiting:
                del waiting[subject]
