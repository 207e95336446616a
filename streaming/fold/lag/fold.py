"""The fold of lag: follows samples, commits, owners and topics; its rows change only at rounds.

Pauses (streaming/fold/pauses) are found by what it knows, and remembered among its facts.

Pure. What it must remember beyond its rows is named in streaming/fold/lag/recalling.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from streaming.fold.changes import Change, GroupKey, PartitionKey
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.exits import ReadPosition
from streaming.fold.group_fold import TableRows
from streaming.fold.lag import commits, end_rows, rows
from streaming.fold.lag.ends import Ends
from streaming.fold.lag.evaluation import Evaluation
from streaming.fold.lag.group_partition import GroupPartition
from streaming.fold.lag.group_partitions import GroupPartitions
from streaming.fold.lag.partition import Partitions
from streaming.fold.lag.pending import PendingChanges
from streaming.fold.lag.recalling import Recollection, recall_all
from streaming.fold.lag.status import Thresholds
from streaming.fold.pauses import fold as pause_fold
from streaming.fold.pauses.fold import Pauses
from zklake.events.envelope import Event
from zklake.events.samples import LogEnd, Round


class LagFold:
    """log_ends, offset_lag and consumption_pauses of one cluster."""

    # After a crash between two of them the earlier may be ahead, never behind.
    tables: tuple[str, ...] = ("consumption_pauses", "offset_lag", "log_ends")

    def __init__(self, cluster: str, thresholds: Thresholds | None = None) -> None:
        partitions, rules = Partitions(), thresholds or Thresholds()
        self._ends = Ends(cluster, partitions, rules.points_per_round)
        self._group_partitions = GroupPartitions(partitions)
        self._lags = Evaluation(cluster, rules)
        self._pauses = Pauses(cluster, self._group_partitions, rules.pause_after_ms)
        self._pending = PendingChanges(self._group_partitions)
        # Entries of a round that has not ended.
        self._entries: list[LogEnd] = []
        self._seq = self._taken_seq = self._round_seq = self._lag_seq = -1
        self._has_news = False

    @classmethod
    def recall(
        cls,
        cluster: str,
        thresholds: Thresholds | None,
        cluster_state: ClusterState,
        known: Recollection,
    ) -> LagFold:
        """The fold that has followed everything up to `known.seq`; so has the cluster's state."""
        fold = cls(cluster, thresholds)
        fold._seq = fold._taken_seq = known.seq
        fold._lag_seq = known.lag_seq
        fold._pauses.written_seq = known.pause_seq
        fold._pending.after_seq = known.after_seq
        fold._round_seq = -1 if known.round_seq is None else known.round_seq
        fold._pending.topics = recall_all(known, cluster_state, fold._ends, fold._group_partitions)
        fold._pauses.recall()
        return fold

    def apply(
        self,
        event: Event,
        changes: Sequence[Change],
        cluster_state: ClusterState,
        context: Context,
    ) -> None:
        """Take one event, after the cluster's state has."""
        self._seq = event.seq
        self._pending.apply_changes(changes, event, cluster_state)
        news = self._pending.apply_commits(event, cluster_state, context)
        if event.seq > self._lag_seq:
            self._pauses.apply(event, changes, news, cluster_state)
        if event.log_ends is not None:
            self._entries += event.log_ends.partitions
            if event.log_ends.round is not None:
                self._end_round(
                    event.log_ends.round, event.seq, event.observed_at_ms, cluster_state
                )

    def pass_time(self, seq: int, at_ms: int) -> None:
        """An event came that changes nothing here."""
        self._seq = seq

    def find_reading(self, group_id: str, key: PartitionKey) -> ReadPosition:
        """How far a ZooKeeper group has read a partition, by all that is known so far."""
        partition = self._ends.partitions.by_topic.get(key.topic, {}).get(key.partition)
        log_end = partition.end if partition is not None and partition.is_open else None
        known = self._group_partitions.find(GroupKey("zookeeper", group_id), key)
        commit = None
        if known is not None:
            commit = known.waiting[-1] if known.waiting else known.commit
        if commit is None or commit.is_gone:
            return ReadPosition(None, None, None, log_end)
        return ReadPosition(commit.seq, commit.offset, commit.at_ms, log_end)

    def _end_round(self, ended: Round, seq: int, at_ms: int, cluster_state: ClusterState) -> None:
        if seq > self._lag_seq:
            self._pauses.settle(seq)
        self._pending.apply_round(ended, seq)
        self._apply_ends(ended, seq, at_ms, cluster_state)
        is_news = seq > self._lag_seq
        if is_news:
            self._group_partitions.apply_marks()
        else:
            self._group_partitions.drop_marks()
        self._pending.count_commits(at_ms, with_facts=is_news)
        if is_news:
            self._evaluate(ended.after_seq, seq, at_ms, cluster_state)
            is_blind = cluster_state.is_blind
            self._pauses.judge(self._ends.partitions, seq, at_ms, ended.after_seq, is_blind)
        self._pending.topics.forget(self._pending.after_seq or 0)
        self._round_seq, self._has_news = seq, True

    def _apply_ends(self, ended: Round, seq: int, at_ms: int, cluster_state: ClusterState) -> None:
        topics, last_seq = self._pending.topics, self._round_seq
        self._ends.apply_topics(cluster_state, lambda t: topics.went_since(t, last_seq), seq, at_ms)

        def is_doubtful(topic: str) -> bool:
            return topics.is_other_since(topic, ended.after_seq, cluster_state)

        self._ends.apply_entries(self._entries, is_doubtful, cluster_state, seq, at_ms)
        self._entries = []
        self._ends.confirm(ended, seq, at_ms)

    def _evaluate(self, after_seq: int, seq: int, at_ms: int, cluster_state: ClusterState) -> None:
        is_blind, gone = cluster_state.is_blind, []
        for partition in self._ends.partitions:
            if not partition.group_partitions:
                continue
            is_known = partition.is_open and partition.error is None
            is_vouched = is_known and partition.vouched_seq == seq
            for group_partition in partition.group_partitions:
                if is_blind and group_partition.group.key.coordinator == "zookeeper":
                    continue
                if not group_partition.is_there:
                    gone.append(group_partition)
                elif is_known != is_vouched or _must_wait(group_partition, after_seq, is_vouched):
                    continue
                else:
                    self._lags.pass_over(
                        group_partition, partition, seq, at_ms, is_vouched=is_vouched
                    )
        self._lags.end_round(seq, at_ms)
        for group_partition in gone:
            if group_partition.point is not None:
                self._pauses.drop(group_partition, seq, at_ms)
                self._lags.end(group_partition, seq, at_ms, group_partition.gone_by)
                group_partition.forget_row()
            # Its commit still counts until a round was asked for after its end.
            if group_partition.commit is None and not group_partition.waiting:
                self._group_partitions.remove(group_partition)

    def take(self, *, idle: bool = False) -> dict[str, TableRows]:
        """What the tables must hold as of the last round; `idle`: as of the last event."""
        if not self._has_news:
            if not idle or self._entries or self._seq <= self._taken_seq:
                return {}
            self._group_partitions.apply_marks()
            self._pauses.stash()
            for group_partition in self._group_partitions:
                if group_partition.facts is not None:
                    commits.remember(group_partition, group_partition.facts)
        seq = self._round_seq if self._has_news else self._seq
        self._has_news, self._taken_seq = False, seq
        taken = {}
        if (pauses := self._pauses.take(seq, idle=idle)) is not None:
            taken[pause_fold.TABLE] = pauses
        if seq > self._lag_seq:
            taken["offset_lag"] = self._take_lags(seq)
        taken["log_ends"] = self._take_ends(seq)
        return taken

    def _take_lags(self, seq: int) -> TableRows:
        lags, each_open = self._lags, (e for e in self._group_partitions if e.point is not None)
        opened = [rows.write_open(lags.cluster, each) for each in each_open]
        ended, lags.ended = lags.ended, []
        return TableRows(rows.name_columns(opened), rows.name_columns(ended), seq)

    def _take_ends(self, seq: int) -> TableRows:
        ends, each_open = self._ends, (e for e in self._ends.partitions if e.is_open)
        opened = [end_rows.write_open(ends.cluster, each) for each in each_open]
        ended, ends.ended = ends.ended, []
        return TableRows(end_rows.name_columns(opened), end_rows.name_columns(ended), seq)


def _must_wait(group_partition: GroupPartition, after_seq: int, is_vouched: bool) -> bool:
    """Its commit is newer than the log end, or only waits and makes no row yet."""
    if group_partition.commit is None:
        return group_partition.point is None and not group_partition.has_owner
    return is_vouched and group_partition.commit.seq > after_seq
