"""The state of a cluster and the folds of its groups, read back from the lake.

The state is that of some seq; a fold whose tables are further begins when it has got there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.tables.consumer_offsets import CONSUMER_OFFSETS
from delta_tables.tables.log_ends import LOG_ENDS
from delta_tables.tables.offset_lag import OFFSET_LAG
from delta_tables.tables.rebalances import REBALANCES
from delta_tables.tables.topics import TOPICS
from streaming.fold.cluster_state import ClusterState
from streaming.fold.group_fold import GroupFold
from streaming.fold.group_folds import GroupFolds, LateStart
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.recalling import Recollection
from streaming.fold.rebalances.fold import RebalanceFold
from streaming.fold.recalling import recall_cluster_state
from streaming.fold.rules import Rules
from streaming.lake.past_rows import read_as_of, read_ms
from zklake.events.samples import GroupReading

Tables = dict[str, DeltaTable]
Row = dict[str, Any]

# Readings of Kafka-stored groups; of those that are alike the last one to be complete.
_READINGS = """
SELECT log_ends['round']['groups']['reason'] AS reason,
  coalesce(log_ends['round']['groups']['partitions_behind'], 0) AS partitions_behind,
  max(log_ends['round']['groups']['complete_since_seq']) AS complete_since_seq
FROM znode_events WHERE op = 'log_ends' AND seq <= {seq} GROUP BY 1, 2"""
_LAST_TIME = "SELECT max(observed_at_ms) AS at_ms FROM znode_events WHERE seq <= {seq}"
_ROUNDS = """
SELECT max(seq) AS round_seq, max(log_ends['round']['after_seq']) AS after_seq,
  max(CASE WHEN log_ends['round']['is_base'] THEN seq END) AS base_seq,
  max(observed_at_ms) AS at_ms
FROM znode_events WHERE op = 'log_ends' AND log_ends['round'] IS NOT NULL AND seq <= {seq}"""
# So far back curves reach: 14 days, and the hour of their last point.
_CURVE_MS = (14 * 24 + 1) * 3_600_000
_LAST_STATES = """
WITH states AS (
  SELECT group_state['group_id'] AS group_id, group_state, seq,
    row_number() OVER (PARTITION BY group_state['group_id'] ORDER BY seq DESC) AS place
  FROM znode_events WHERE op = 'group_state' AND seq > {since} AND seq <= {seq}
), members AS (
  SELECT group_id, unnest(group_state['members']) AS member FROM states WHERE place = 1
), assigned AS (
  SELECT group_id, bool_and(member['assignment'] IS NOT NULL) AS is_assigned
  FROM members GROUP BY group_id
)
SELECT states.group_id AS group_id, group_state['generation'] AS generation,
  group_state['state'] AS state, group_state['protocol_type'] AS protocol_type, seq,
  group_state['members'] IS NULL AS is_untold, group_state['member_count'] AS member_count,
  coalesce(group_state['tombstone'], false) AS tombstone,
  coalesce(assigned.is_assigned, true) AS is_assigned
FROM states LEFT JOIN assigned ON assigned.group_id = states.group_id
WHERE place = 1"""


def recall_groups(
    cluster: str, tables: Tables, seq: int, markers: Mapping[str, int], rules: Rules
) -> GroupFolds:
    """The folds of a driver that has followed everything up to `seq`; `markers` of its tables."""
    # A table that was never written begins here.
    seqs = {name: seq if marker < 0 else marker for name, marker in markers.items()}
    late_starts = (
        LateStart(seqs["log_ends"], _recall_lag(cluster, tables, seqs, rules)),
        LateStart(
            seqs["rebalances"], _recall_rebalances(cluster, tables, seqs["rebalances"], rules)
        ),
    )
    last = reading.query_rows(tables, _LAST_TIME.format(seq=seq))[0]
    return GroupFolds(
        _read_cluster_state(tables, seq),
        late_starts=late_starts,
        taken_at_ms=None if min(markers.values()) < 0 else last["at_ms"] or 0,
    )


def _recall_lag(
    cluster: str, tables: Tables, seqs: Mapping[str, int], rules: Rules
) -> Callable[[ClusterState], GroupFold]:
    seq, lag_seq = seqs["log_ends"], max(seqs["log_ends"], seqs["offset_lag"])
    sampled = reading.query_rows(tables, _ROUNDS.format(seq=seq))[0]
    after_seq, at_ms = sampled["after_seq"], sampled["at_ms"]
    # What came since is what a round has not taken over yet.
    last_seq = seq if after_seq is None else after_seq
    since = datetime.fromtimestamp(((at_ms or 0) - _CURVE_MS) / 1000, UTC).isoformat()
    known = Recollection(
        seq=seq,
        lag_seq=lag_seq,
        pause_seq=seqs["consumption_pauses"],
        round_seq=sampled["round_seq"],
        base_seq=sampled["base_seq"],
        after_seq=after_seq,
        end_rows=read_ms(tables, LOG_ENDS, "is_open"),
        curve_rows=read_ms(tables, LOG_ENDS, f"NOT is_open AND confirmed_at >= '{since}'"),
        lag_rows=read_ms(tables, OFFSET_LAG, "is_open"),
        offset_rows=read_ms(
            tables,
            CONSUMER_OFFSETS,
            f"valid_from_seq <= {seq} AND (is_open OR valid_to_seq > {last_seq})",
        ),
        topic_rows=read_ms(
            tables,
            TOPICS,
            f"valid_to_seq <= {seq} AND ended_by NOT IN ('changed', 'unreadable')",
        ),
    )
    return lambda cluster_state: LagFold.recall(cluster, rules.thresholds, cluster_state, known)


def _recall_rebalances(
    cluster: str, tables: Tables, seq: int, rules: Rules
) -> Callable[[ClusterState], GroupFold]:
    rows = read_ms(tables, REBALANCES, "is_open")
    return lambda cluster_state: RebalanceFold(cluster, cluster_state, rows, rules.pace, seq)


def _read_cluster_state(tables: Tables, seq: int) -> ClusterState:
    """Who and what stood at that seq."""
    return recall_cluster_state(
        read_as_of(tables, "consumer_membership", seq),
        read_as_of(tables, "ownership_history", seq),
        read_as_of(tables, "topics", seq),
        _read_groups(tables, seq),
        read_as_of(tables, "log_gaps", seq),
    )


def _read_groups(tables: Tables, seq: int) -> list[Row]:
    """The last state of each Kafka-stored group, less those that were found to be gone."""
    if seq < 0:
        return []
    readings = [
        GroupReading(**row) for row in reading.query_rows(tables, _READINGS.format(seq=seq))
    ]
    vouched = (each.vouched_since_seq for each in readings)
    since = max((begin for begin in vouched if begin is not None), default=0)
    sql = _LAST_STATES.format(since=since - 1, seq=seq)
    return [
        {**row, "has_members": _has_members(row)}
        for row in reading.query_rows(tables, sql)
        if not row["tombstone"]
    ]


def _has_members(row: Row) -> bool | None:
    if row["is_untold"]:
        return False if row["state"] == "Empty" else None
    return bool(row["member_count"])
