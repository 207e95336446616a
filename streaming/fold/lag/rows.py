"""Partitions of groups as rows of offset_lag, and back: dicts are made here alone, and late."""

from __future__ import annotations

import msgspec

from delta_tables.observation import read_millis
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point
from streaming.fold.row import Row

_COLUMNS = Point.__struct_fields__
_encode = msgspec.json.Encoder().encode


def write_open(cluster: str, group_partition: GroupPartition) -> Row:
    """The open row."""
    row = _write_row(cluster, group_partition)
    row["fold_state"] = _encode(group_partition.facts).decode()
    return row


def write_ended(
    cluster: str, group_partition: GroupPartition, seq: int, at_ms: int, word: str
) -> Row:
    """The row, ended; rounds never come before what they end."""
    row = _write_row(cluster, group_partition)
    row["valid_to_seq"], row["valid_to_at"] = seq, read_millis(at_ms)
    row["ended_by"], row["is_open"] = word, False
    return row


def _write_row(cluster: str, group_partition: GroupPartition) -> Row:
    p = group_partition.point
    assert p is not None
    # One display, written out: a hundred thousand of these are made at a time.
    return {
        "cluster": cluster,
        "coordinator": group_partition.group.key.coordinator,
        "group_id": group_partition.group.key.group_id,
        "topic": group_partition.partition.topic,
        "partition": group_partition.partition.number,
        "incarnation": p.incarnation,
        "owner": p.owner,
        "owner_member_id": p.owner_member_id,
        "committed_offset": p.committed_offset,
        "committed_at": p.committed_at,
        "log_start_offset": p.log_start_offset,
        "log_end_offset": p.log_end_offset,
        "sampled_at": group_partition.sampled_ms,
        "lag": p.lag,
        "raw_lag": p.raw_lag,
        "reason": p.reason,
        "lag_seconds": p.lag_seconds,
        "lag_seconds_error": p.lag_seconds_error,
        "lag_quality": p.lag_quality,
        "velocity": p.velocity,
        "catch_up_seconds": p.catch_up_seconds,
        "retention_share": p.retention_share,
        "lost_records": p.lost_records,
        "loss_at": p.loss_at,
        "other_offset": p.other_offset,
        "divergence": p.divergence,
        "status": p.status,
        "status_since": p.status_since,
        "seen_seq": group_partition.row_seen_seq,
        "valid_from_seq": group_partition.row_seq,
        "valid_from_zxid": None,
        "valid_from_at": group_partition.row_ms,
        "valid_to_seq": None,
        "valid_to_zxid": None,
        "valid_to_at": None,
        "valid_to_at_min": None,
        "is_clamped": False,
        "ended_by": None,
        "is_open": True,
        "fold_state": None,
    }


def recall(group_partition: GroupPartition, row: Row) -> None:
    """Take up an open row."""
    group_partition.point = Point(*(row[name] for name in _COLUMNS))
    group_partition.facts = msgspec.json.decode(row["fold_state"], type=Facts)
    group_partition.sampled_ms = row["sampled_at"]
    group_partition.row_seq, group_partition.row_ms = row["valid_from_seq"], row["valid_from_at"]
    group_partition.row_seen_seq = row["seen_seq"]
