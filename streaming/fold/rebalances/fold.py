"""The fold of `rebalances`: follows every group of one cluster, and writes each episode as a row.

Pure. docs/rebalances.md says by which rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streaming.fold.changes import Change, GroupKey, TopicState
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.group_fold import TableRows
from streaming.fold.life import Moment, find_moment
from streaming.fold.rebalances.episode import Episode, Pace
from streaming.fold.rebalances.group import GroupEpisodes
from streaming.fold.rebalances.kafka import read_rebalance
from streaming.fold.rebalances.roster import Roster
from streaming.fold.rebalances.tries import Times, read_times
from streaming.fold.row import Row
from zklake.events.envelope import Event

TABLE = "rebalances"


class RebalanceFold:
    """One cluster. Made from its state and the open rows as of the same seq, it goes on."""

    tables: tuple[str, ...] = (TABLE,)

    def __init__(
        self,
        cluster: str,
        cluster_state: ClusterState | None = None,
        open_rows: Iterable[Row] = (),
        pace: Pace | None = None,
        seq: int = -1,
    ) -> None:
        self._cluster, self._pace = cluster, pace or Pace()
        self._topics: dict[str, frozenset[int] | None] = {}
        self._groups: dict[str, GroupEpisodes] = {}
        self._open: set[str] = set()
        # When each Kafka-stored group was last published.
        self._said: dict[str, int] = {}
        self._ended: list[Row] = []
        self._is_blind, self._is_changed = False, False
        self._seq, self._now_ms = seq, 0
        self._recall(cluster_state or ClusterState(), open_rows)

    def apply(
        self,
        event: Event,
        changes: Sequence[Change],
        cluster_state: ClusterState,
        context: Context,
    ) -> None:
        """Take one event, after the cluster's state has; `changes` are what it did there."""
        self._seq, was_blind = event.seq, self._is_blind
        if cluster_state.is_blind and not was_blind:
            # Of the time up to a gap only the events before it count.
            self._judge_all()
            self._is_blind = True
        if not self._is_blind:
            self._now_ms = event.observed_at_ms
        touched = self._take(event, changes)
        self._apply_kafka(event, changes, cluster_state)
        if was_blind and not cluster_state.is_blind:
            self._is_blind, self._now_ms = False, event.observed_at_ms
            touched |= self._open
            self._empty(touched)
            self._judge_all()
        self._empty(touched)

    def pass_time(self, seq: int, at_ms: int) -> None:
        """An event came that changes nothing here."""
        self._seq = seq
        if not self._is_blind:
            self._now_ms = at_ms

    def take(self, *, idle: bool = False) -> dict[str, TableRows]:
        """The table's rows, if there is news."""
        self._judge_all()
        if not (self._is_changed or idle) or self._seq < 0:
            return {}
        rows = [self._write_row(group_id) for group_id in sorted(self._open)]
        taken = TableRows(rows, self._ended, self._seq)
        self._ended, self._is_changed = [], False
        return {TABLE: taken}

    def _write_row(self, group_id: str) -> Row:
        episode = self._groups[group_id].episode
        assert episode is not None
        return episode.write_row()

    def _take(self, event: Event, changes: Sequence[Change]) -> set[str]:
        """Apply the changes, one by one; the groups that they concern."""
        touched: set[str] = set()
        if not changes:
            return touched
        at, times = find_moment(event), read_times(event)
        if event.op == "in_sync":
            at = Moment(event.seq, None, event.observed_at_ms)
        for change in changes:
            if change.group is None and change.topic is not None:
                touched |= self._apply_topic(change, at, times)
            elif change.group is not None and change.group.coordinator == "zookeeper":
                group = self._find(change.group.group_id)
                self._note(group, change, at, times)
                group.apply(change)
                touched.add(change.group.group_id)
        return touched

    def _apply_kafka(
        self, event: Event, changes: Sequence[Change], cluster_state: ClusterState
    ) -> None:
        """A Kafka-stored group was published, or found to be gone."""
        for change in changes:
            if change.kind == "group_changed" and change.after is None and change.group is not None:
                self._said.pop(change.group.group_id, None)
        said = event.group_state
        if said is None or said.group_id not in cluster_state.kafka_groups:
            return
        said_seq = self._said.get(said.group_id, event.seq)
        if row := read_rebalance(event, changes, cluster_state, said_seq):
            self._ended.append(row)
            self._is_changed = True
        self._said[said.group_id] = event.seq

    def _note(self, group: GroupEpisodes, change: Change, at: Moment, times: Times) -> None:
        if not self._is_blind:
            self._judge(group, change)
        group.note(change, at, times, is_blind=self._is_blind)
        self._settle_books(group, is_news=group.episode is not None)

    def _apply_topic(self, change: Change, at: Moment, times: Times) -> set[str]:
        topic = change.topic or ""
        is_new = topic not in self._topics
        concerned = [g for g in self._groups.values() if g.roster.may_want(topic, is_new=is_new)]
        is_wanted = {group.key["group_id"]: group.roster.subscribes(topic) for group in concerned}
        for group in concerned:
            if not self._is_blind:
                self._judge(group, change)
            group.roster.drop_topic(topic)
        if isinstance(change.after, TopicState):
            self._topics[topic] = _read_partitions(change.after)
        else:
            self._topics.pop(topic, None)
        for group in concerned:
            if topic in self._topics:
                group.roster.put_topic(topic)
            if is_wanted[group.key["group_id"]] or group.roster.subscribes(topic):
                group.note(change, at, times, is_blind=self._is_blind)
                self._settle_books(group, is_news=True)
        return {group.key["group_id"] for group in concerned}

    def _judge_all(self) -> None:
        if not self._is_blind:
            for group_id in sorted(self._open):
                self._judge(self._groups[group_id])

    def _judge(self, group: GroupEpisodes, change: Change | None = None) -> None:
        """Whether its episode is over, by the time that has passed or by what happens next."""
        group.judge(self._now_ms)
        if change is not None:
            group.judge_followed(change)
        self._settle_books(group)

    def _empty(self, group_ids: set[str]) -> None:
        """End what ended with its last member, and forget groups of which nothing is left."""
        for group_id in sorted(group_ids):
            group = self._groups.get(group_id)
            if group is None:
                continue
            if not self._is_blind:
                group.judge_emptied()
                self._settle_books(group)
            if group.is_idle:
                del self._groups[group_id]

    def _settle_books(self, group: GroupEpisodes, *, is_news: bool = False) -> None:
        """Take over what the group has ended, and whether an episode of it is open."""
        group_id, is_open = group.key["group_id"], group.episode is not None
        is_turned = is_open != (group_id in self._open)
        if is_open:
            self._open.add(group_id)
        else:
            self._open.discard(group_id)
        self._is_changed |= is_news or is_turned or bool(group.ended)
        self._ended += group.ended
        group.ended.clear()

    def _find(self, group_id: str) -> GroupEpisodes:
        if group_id not in self._groups:
            key = {"cluster": self._cluster, **GroupKey("zookeeper", group_id)._asdict()}
            self._groups[group_id] = GroupEpisodes(key, self._pace, Roster(self._topics))
        return self._groups[group_id]

    def _recall(self, cluster_state: ClusterState, open_rows: Iterable[Row]) -> None:
        self._is_blind = cluster_state.is_blind
        self._said = {name: known.seen_seq for name, known in cluster_state.kafka_groups.items()}
        self._topics.update((t, _read_partitions(s)) for t, s in cluster_state.topics.items())
        for key, members in cluster_state.members.items():
            if key.coordinator == "zookeeper":
                for member in members.values():
                    self._find(key.group_id).roster.put_member(member)
        for key, owners in cluster_state.owners.items():
            if key.coordinator == "zookeeper":
                for place, owner in owners.items():
                    self._find(key.group_id).roster.put_owner(place, owner)
        for row in open_rows:
            self._find(row["group_id"]).episode = Episode.recall(row)
            self._open.add(row["group_id"])


def _read_partitions(topic: TopicState) -> frozenset[int] | None:
    return None if topic.partitions is None else frozenset(topic.partitions)
