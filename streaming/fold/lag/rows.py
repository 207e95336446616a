"""Partitions of groups as rows of offset_lag, and back: rows are made here alone, and late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from delta_tables.observation import read_millis
from delta_tables.tables.offset_lag import OFFSET_LAG
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point
from streaming.fold.row import Row, StoredRow, StoredRows

_COLUMNS = Point.__struct_fields__
_NAMES = tuple(name for name in OFFSET_LAG.names if name != "closed_on")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Facts).decode


class _End(NamedTuple):
    """What the columns of an end say."""

    seq: int | None
    at_ms: int | None
    word: str | None
    lag_mean: float | None


_NO_END = _End(None, None, None, None)


def name_columns(tuples: Sequence[StoredRow]) -> StoredRows:
    """Rows as they are made here."""
    return StoredRows(_NAMES, tuples)


def write_open(cluster: str, group_partition: GroupPartition) -> StoredRow:
    """The open row."""
    facts = group_partition.facts
    if facts is not None:
        facts.gone_by = "deleted" if group_partition.is_there else group_partition.gone_by
    return _write_row(cluster, group_partition, _NO_END, _encode(facts).decode())


def write_ended(
    cluster: str, group_partition: GroupPartition, seq: int, at_ms: int, word: str
) -> StoredRow:
    """The row, ended; rounds never come before what they end."""
    end = _End(seq, read_millis(at_ms), word, _find_mean(group_partition, at_ms))
    return _write_row(cluster, group_partition, end, None)


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


def _write_row(
    cluster: str, group_partition: GroupPartition, end: _End, fold_state: str | None
) -> StoredRow:
    p, last, facts = group_partition.first, group_partition.point, group_partition.facts
    assert p is not None
    assert last is not None
    w = None if facts is None else facts.within
    key, partition = group_partition.group.key, group_partition.partition
    # One display, written out: a hundred thousand of these are made at a time.
    return (
        cluster,
        key.coordinator,
        key.group_id,
        partition.topic,
        partition.number,
        p.incarnation,
        p.owner,
        p.owner_member_id,
        p.committed_offset,
        p.committed_at,
        p.log_start_offset,
        p.log_end_offset,
        group_partition.sampled_ms,
        p.lag,
        p.raw_lag,
        p.reason,
        p.lag_seconds,
        p.lag_seconds_error,
        p.lag_quality,
        p.velocity,
        p.catch_up_seconds,
        p.retention_share,
        p.lost_records,
        p.loss_at,
        p.other_offset,
        p.divergence,
        p.status,
        p.status_since,
        # When it began and ended: seen_seq, valid_from and valid_to, each with seq, zxid and time.
        group_partition.row_seen_seq,
        group_partition.row_seq,
        None,
        group_partition.row_ms,
        end.seq,
        None,
        end.at_ms,
        None,
        False,
        end.word,
        end.word is None,
        # Its time as a whole: least, most, mean and last.
        p.lag if w is None else w.lag_min,
        p.lag if w is None else w.lag_max,
        end.lag_mean,
        last.lag,
        p.lag_seconds if w is None else w.lag_seconds_min,
        p.lag_seconds if w is None else w.lag_seconds_max,
        last.lag_seconds,
        last.committed_offset,
        last.committed_at,
        last.log_end_offset,
        last.velocity,
        1 if w is None else w.points,
        fold_state,
    )


def recall(group_partition: GroupPartition, row: Row) -> None:
    """Take up an open row."""
    facts = _decode(row["fold_state"])
    group_partition.first = Point(*(row[name] for name in _COLUMNS))
    group_partition.point = group_partition.first if facts.within is None else facts.within.last
    group_partition.facts = facts
    group_partition.sampled_ms = row["sampled_at"]
    group_partition.row_seq, group_partition.row_ms = row["valid_from_seq"], row["valid_from_at"]
    group_partition.row_seen_seq = row["seen_seq"]
