"""The fold of lag made from rows of the lake: for restarts. Pure; which columns stands below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.cluster_state import ClusterState
from streaming.fold.lag import end_rows, rows
from streaming.fold.lag.commits import recall_commit, take_over
from streaming.fold.lag.ends import Ends
from streaming.fold.lag.group_partitions import GroupPartitions
from streaming.fold.lag.topics import Topics
from streaming.fold.row import Row


@dataclass(frozen=True)
class Recollection:
    """What the lake says; times are epoch ms. `seq`: the marker of log_ends.

    Events with a larger seq are followed again. offset_lag may be ahead: `lag_seq` is its marker.
    """

    seq: int
    lag_seq: int
    # The marker of consumption_pauses.
    pause_seq: int = -1
    # Of rounds up to `seq`: the seqs of the last one and of the last base, the largest after_seq.
    round_seq: int | None = None
    base_seq: int | None = None
    after_seq: int | None = None
    # log_ends, all columns: the open rows; and closed ones that were confirmed (confirmed_at) in
    # the 14 days and 1 hour before the last event: of these topic, partition, incarnation,
    # log_end_offset, sampled_at, confirmed_at, those of the last end, valid_from_seq. In any order;
    # more do no harm.
    end_rows: Sequence[Row] = ()
    curve_rows: Sequence[Row] = ()
    # offset_lag, all columns: the open rows.
    lag_rows: Sequence[Row] = ()
    # consumer_offsets with valid_from_seq <= seq and (open or valid_to_seq > after_seq):
    # coordinator, group_id, topic, partition, broker_id, committed_offset, czxid, znode_version,
    # fidelity, seen_seq, valid_from_seq, valid_from_zxid, valid_from_at, valid_to_seq, ended_by.
    offset_rows: Sequence[Row] = ()
    # topics with valid_to_seq <= seq, ended by anything but changed or unreadable: topic,
    # broker_id, incarnation, valid_to_seq, ended_by.
    topic_rows: Sequence[Row] = ()


def recall_all(
    known: Recollection, cluster_state: ClusterState, ends: Ends, group_partitions: GroupPartitions
) -> Topics:
    """Fill what is empty; the cluster's state is as of `known.seq`."""
    ends.base_seq = -1 if known.base_seq is None else known.base_seq
    for row in sorted(known.curve_rows, key=itemgetter("valid_from_seq")):
        end_rows.recall_curve(ends.partitions.get(row["topic"], row["partition"]), row)
    for row in known.end_rows:
        end_rows.recall(ends.partitions.get(row["topic"], row["partition"]), row)
    topics = Topics.recall(known.topic_rows)
    for group, owners in cluster_state.owners.items():
        for key, owner in owners.items():
            group_partition = group_partitions.get(group, key, cluster_state)
            group_partition.has_owner = True
            group_partition.owner, group_partition.owner_member_id = (
                owner.owner,
                owner.owner_member_id,
            )
            group_partition.claim_ms = owner.from_ms
    for row in known.lag_rows:
        rows.recall(group_partitions.get(*_find(row), cluster_state), row)
    _recall_commits(known, cluster_state, group_partitions, topics)
    topics.forget(-1 if known.after_seq is None else known.after_seq)
    return topics


def _find(row: Row) -> tuple[GroupKey, PartitionKey]:
    group = GroupKey(row["coordinator"], row["group_id"])
    return group, PartitionKey(row["topic"], row["partition"])


def _recall_commits(
    known: Recollection,
    cluster_state: ClusterState,
    group_partitions: GroupPartitions,
    topics: Topics,
) -> None:
    for row in _sort(known.offset_rows):
        if row["broker_id"] is not None:
            continue
        group_partition = group_partitions.get(*_find(row), cluster_state)
        incarnation = topics.find_then(row["topic"], row["valid_from_seq"], cluster_state)
        recall_commit(group_partition, row, incarnation, known.seq, known.after_seq)
    for group_partition in group_partitions:
        if known.after_seq is not None:
            take_over(group_partition, known.after_seq, 0, with_facts=False)
        if group_partition.waiting:
            group_partitions.waiting[group_partition] = None
        commit, facts = group_partition.commit, group_partition.facts
        if facts is None:
            continue
        # An owner may have gone after the commit.
        group_partition.gone_by = facts.gone_by
        if commit is not None and (commit.offset or 0) >= 0:
            # Of commits that count the rows know better of which incarnation they are.
            commit.incarnation = facts.incarnation


def _sort(found: Iterable[Row]) -> list[Row]:
    return sorted(found, key=itemgetter("valid_from_seq"))
