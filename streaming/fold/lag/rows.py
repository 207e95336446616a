"""Partitions of groups as rows of offset_lag, and back: dicts are made here alone, and late."""

from __future__ import annotations

import msgspec

from delta_tables.observation import read_millis
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point
from streaming.fold.row import Row

_COLUMNS = Point.__struct_fields__
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Facts).decode


def write_open(cluster: str, group_partition: GroupPartition) -> Row:
    """The open row."""
    row = _write_row(cluster, group_partition)
    if group_partition.facts is not None:
        is_there = group_partition.is_there
        group_partition.facts.gone_by = "deleted" if is_there else group_partition.gone_by
    row["fold_state"] = _encode(group_partition.facts).decode()
    return row


def write_ended(
    cluster: str, group_partition: GroupPartition, seq: int, at_ms: int, word: str
) -> Row:
    """The row, ended; rounds never come before what they end."""
    row = _write_row(cluster, group_partition)
    row["valid_to_seq"], row["valid_to_at"] = seq, read_millis(at_ms)
    row["ended_by"], row["is_open"] = word, False
    row["lag_mean"] = _find_mean(group_partition, at_ms)
    return row


def _find_mean(group_partition: GroupPartition, at_ms: int) -> float | None:
    """The mean lag of a row that ends, each value by the time for which it held."""
    point, facts, from_ms = group_partition.point, group_partition.facts, group_partition.row_ms
    if point is None or point.lag is None:
        return None
    within = None if facts is None else facts.within
    if within is None or from_ms is None or at_ms <= from_ms:
        return float(point.lag)
    area = within.lag_area + point.lag * (at_ms - within.since_ms)
    return area / (at_ms - from_ms)


def _write_row(cluster: str, group_partition: GroupPartition) -> Row:
    p, last, facts = group_partition.first, group_partition.point, group_partition.facts
    assert p is not None
    assert last is not None
    w = None if facts is None else facts.within
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
        "lag_min": p.lag if w is None else w.lag_min,
        "lag_max": p.lag if w is None else w.lag_max,
        # Known when the row has ended.
        "lag_mean": None,
        "lag_last": last.lag,
        "lag_seconds_min": p.lag_seconds if w is None else w.lag_seconds_min,
        "lag_seconds_max": p.lag_seconds if w is None else w.lag_seconds_max,
        "lag_seconds_last": last.lag_seconds,
        "committed_offset_last": last.committed_offset,
        "committed_at_last": last.committed_at,
        "log_end_offset_last": last.log_end_offset,
        "velocity_last": last.velocity,
        "points": 1 if w is None else w.points,
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
    facts = _decode(row["fold_state"])
    group_partition.first = Point(*(row[name] for name in _COLUMNS))
    group_partition.point = group_partition.first if facts.within is None else facts.within.last
    group_partition.facts = facts
    group_partition.sampled_ms = row["sampled_at"]
    group_partition.row_seq, group_partition.row_ms = row["valid_from_seq"], row["valid_from_at"]
    group_partition.row_seen_seq = row["seen_seq"]
