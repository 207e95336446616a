"""Partitions as rows of log_ends, and back; and what moves within the open row. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from delta_tables.observation import read_millis
from delta_tables.tables.log_ends import LOG_ENDS
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.partition import Partition
from streaming.fold.row import Row, StoredRow, StoredRows
from zklake.events.payloads.reading import LARGEST_INT
from zklake.events.samples import LogEnd

_OUT_OF_RANGE = "OUT_OF_RANGE"
_LONG = 2**63
_NAMES = tuple(name for name in LOG_ENDS.names if name != "closed_on")


class _Last(NamedTuple):
    """What a row saw last: offsets, when that end was first sampled, and when it last held."""

    start: int | None
    end: int | None
    sampled_ms: int
    confirmed_ms: int


def begin_row(partition: Partition, seq: int, at_ms: int) -> None:
    """What was sampled last begins a row."""
    partition.confirmed_ms, partition.from_seq, partition.from_ms = at_ms, seq, at_ms
    partition.seen_seq = seq
    partition.sampled_ms = at_ms
    if partition.end is not None:
        partition.curve.thin(at_ms - at_ms % HOUR_MS)
        partition.sampled_ms = partition.curve.find_first(
            partition.incarnation, partition.end, at_ms
        )
    partition.row_start, partition.row_end = partition.start, partition.end
    partition.row_sampled_ms, partition.row_confirmed_ms = partition.sampled_ms, at_ms


def move_on(partition: Partition, entry: LogEnd, at_ms: int) -> None:
    """Other offsets within the same row."""
    if entry.log_end_offset != partition.end:
        if partition.end == partition.row_end:
            partition.curve.thin(at_ms - at_ms % HOUR_MS)
            _note_first(partition)
        partition.sampled_ms = at_ms
    partition.start, partition.end = entry.log_start_offset, entry.log_end_offset


def confirm(partition: Partition, seq: int, at_ms: int) -> None:
    """What was sampled last still holds; and so may the end that the row began with."""
    partition.confirmed_ms, partition.seen_seq = at_ms, seq
    if partition.end == partition.row_end:
        partition.row_confirmed_ms = at_ms


def note_last(partition: Partition) -> None:
    """The row ends: its newest end is a point of the curve."""
    if partition.end is not None:
        partition.curve.add(
            partition.incarnation, partition.end, partition.sampled_ms, partition.confirmed_ms
        )


def _note_first(partition: Partition) -> None:
    """The end that a row began with has passed, though the row goes on."""
    if partition.row_end is not None:
        times = partition.row_sampled_ms, partition.row_confirmed_ms
        partition.curve.add(partition.incarnation, partition.row_end, *times)


def name_columns(tuples: Sequence[StoredRow]) -> StoredRows:
    """Rows as they are made here."""
    return StoredRows(_NAMES, tuples)


def write_open(cluster: str, partition: Partition) -> StoredRow:
    """The open row of a partition."""
    return _write_row(cluster, partition, None, None, None)


def write_ended(cluster: str, partition: Partition, seq: int, at_ms: int, word: str) -> StoredRow:
    """The row, ended."""
    return _write_row(cluster, partition, seq, read_millis(at_ms), word)


def _write_row(
    cluster: str, partition: Partition, to_seq: int | None, to_ms: int | None, word: str | None
) -> StoredRow:
    from_ms = read_millis(partition.from_ms)
    is_clamped = from_ms is not None and to_ms is not None and to_ms < from_ms
    # One display, written out: many thousands of these are made at a time.
    return (
        cluster,
        partition.topic,
        partition.number,
        partition.incarnation,
        partition.broker_id,
        partition.row_start,
        partition.row_end,
        partition.error,
        partition.row_sampled_ms,
        partition.row_confirmed_ms,
        # When it began and ended: seen_seq, valid_from and valid_to, each with seq, zxid and time.
        partition.seen_seq,
        partition.from_seq,
        None,
        from_ms,
        to_seq,
        None,
        from_ms if is_clamped else to_ms,
        None,
        is_clamped,
        word,
        word is None,
        # What it wrote last.
        partition.start,
        partition.end,
        partition.sampled_ms,
        partition.confirmed_ms,
    )


def recall(partition: Partition, row: Row) -> None:
    """Take up an open row, after those that have ended."""
    partition.is_open, partition.incarnation = True, row["incarnation"]
    partition.broker_id, partition.error = row["broker_id"], row["error"]
    partition.row_start, partition.row_end = row["log_start_offset"], row["log_end_offset"]
    partition.row_sampled_ms, partition.row_confirmed_ms = row["sampled_at"], row["confirmed_at"]
    last = _read_last(row)
    partition.start, partition.end = last.start, last.end
    partition.sampled_ms, partition.confirmed_ms = last.sampled_ms, last.confirmed_ms
    partition.from_seq, partition.from_ms = row["valid_from_seq"], row["valid_from_at"]
    partition.seen_seq = row["seen_seq"]
    if partition.end != partition.row_end:
        _note_first(partition)


def recall_curve(partition: Partition, row: Row) -> None:
    """Take up a row that has ended; they come in the order of valid_from_seq."""
    end, last = row["log_end_offset"], _read_last(row)
    if end is not None and last.end is not None:
        partition.curve.add(row["incarnation"], end, row["sampled_at"], row["confirmed_at"])
        partition.curve.add(row["incarnation"], last.end, last.sampled_ms, last.confirmed_ms)


def _read_last(row: Row) -> _Last:
    """Rows of an older layout hold one point."""
    if row.get("confirmed_at_last") is None:
        offsets = (row["log_start_offset"], row["log_end_offset"])
        return _Last(*offsets, row["sampled_at"], row["confirmed_at"])
    offsets = (row["log_start_offset_last"], row["log_end_offset_last"])
    return _Last(*offsets, row["sampled_at_last"], row["confirmed_at_last"])


def read_entry(entry: LogEnd) -> tuple[int | None, int | None, int | None, str | None]:
    """What a broker answered."""
    return entry.broker_id, entry.log_start_offset, entry.log_end_offset, entry.error


def read_last(partition: Partition) -> tuple[int | None, int | None, int | None, str | None]:
    """The same, of what was sampled last."""
    return partition.broker_id, partition.start, partition.end, partition.error


def tame(entry: LogEnd) -> LogEnd:
    """What fits the table: wild numbers are an error, and so is a missing one."""
    broker_id = entry.broker_id
    is_wild = broker_id is not None and not -LARGEST_INT - 1 <= broker_id <= LARGEST_INT
    if entry.error is not None and not is_wild:
        return LogEnd(entry.topic, entry.partition, broker_id, error=entry.error)
    start, end = entry.log_start_offset, entry.log_end_offset
    if is_wild or start is None or end is None or not (0 <= start < _LONG and 0 <= end < _LONG):
        wild = None if is_wild else broker_id
        return LogEnd(entry.topic, entry.partition, wild, error=entry.error or _OUT_OF_RANGE)
    return entry
