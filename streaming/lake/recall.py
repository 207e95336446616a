"""All that a fold must remember, read back from the lake: as of its watermark, or earlier.

A table may be ahead of that (a crash between two commits): its rows that ended beyond it still
stood then, and are remembered as they stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import GROUP_TABLES, INTERVAL_TABLES, STEP_TABLES
from delta_tables.observation import LAST_MS
from streaming.fold.cluster import HEARTBEAT_MS, ClusterFold, make_steps
from streaming.fold.exits import COMMITS, Clocks
from streaming.fold.frames import Frames
from streaming.fold.intervals import IntervalFold
from streaming.fold.open_rows import OpenRow, OpenRows
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.past_rows import Row, read_as_of, read_ms
from streaming.lake.recall_groups import recall_groups
from zklake.events.envelope import Event, Frame

Tables = dict[str, DeltaTable]

_LAST_BEAT = """
SELECT max(observed_at_ms) AS at_ms FROM znode_events WHERE op = 'heartbeat' AND seq <= {seq}"""

# By which times it can be said how late the watcher saw them.
_LAST_COMMITS = """
SELECT observed_at_ms - CASE WHEN op = 'create' THEN stat['ctime'] ELSE stat['mtime'] END AS late_ms
FROM znode_events
WHERE kind = 'offset' AND op IN ('create', 'set') AND origin IN ('watch', 'txnlog') AND seq <= {seq}
  AND CASE WHEN op = 'create' THEN stat['ctime'] ELSE stat['mtime'] END BETWEEN 0 AND {last_ms}
ORDER BY seq DESC LIMIT {count}"""


def read_markers(lake: Lake, log_id: str | None) -> dict[str, int]:
    """Up to which seq each table holds the log."""
    tables = (*INTERVAL_TABLES, *STEP_TABLES, *GROUP_TABLES)
    return {t.name: reading.read_marker(lake.path, lake.cluster, t.name, log_id) for t in tables}


def find_recall_seq(seq: int, markers: Mapping[str, int]) -> int:
    """As of which seq the memory is read back: what follows it must be folded again.

    The watermark, or the marker of a fold's table that is behind it. A table that was never
    written begins at the watermark: `zklake rebuild` gives it its past.
    """
    behind = (markers[table.name] for table in GROUP_TABLES)
    return min([seq, *(marker for marker in behind if marker >= 0)])


def recall_cluster(lake: Lake, seq: int, markers: Mapping[str, int], rules: Rules) -> ClusterFold:
    """The fold that has taken everything up to `seq`, the watermark or less."""
    tables = reading.open_tables(lake.path, lake.cluster)
    fold = ClusterFold(lake.cluster, rules)
    for interval in fold.intervals.values():
        interval.marker = markers[interval.table.name]
        recall_intervals(lake, tables, interval, seq, is_ahead=interval.marker > seq)
    recall_controller_znode(tables, fold, seq)
    fold.steps = make_steps(
        lake.cluster,
        {t.name: read_ms(tables, t, f"is_open OR valid_to_seq > {seq}") for t in STEP_TABLES},
        markers,
    )
    held = {table.name: markers[table.name] for table in GROUP_TABLES}
    fold.group_folds = recall_groups(lake.cluster, tables, seq, held, rules)
    fold.sight.frames = _recall_frames(tables, seq)
    recall_gaps(tables, fold, seq)
    fold.exits.members.clocks = _recall_clocks(tables, seq)
    beat_ms = reading.query_rows(tables, _LAST_BEAT.format(seq=seq))[0]["at_ms"]
    fold.heartbeat_minute = -1 if beat_ms is None else beat_ms // HEARTBEAT_MS
    return fold


def recall_intervals(
    lake: Lake, tables: Tables, fold: IntervalFold, seq: int, *, is_ahead: bool
) -> None:
    """The rows of a table as they stood at that seq; `is_ahead`: some may have ended since."""
    writer = lake.find_writer(fold.table)
    fold.open = OpenRows(writer.count_shards() or 1)
    for rows in writer.read_open():
        for row in _read_columns(rows):
            if row["valid_from_seq"] <= seq:
                _recall(fold, row, seq)
    if is_ahead:
        where = f"valid_from_seq <= {seq} AND NOT is_open AND valid_to_seq > {seq}"
        for row in read_ms(tables, fold.table, where):
            _recall(fold, row, seq)
    fold.open.settle()


def _recall(fold: IntervalFold, row: Row, seq: int) -> None:
    """One that was seen again since was seen then at the latest."""
    names = [name for name in fold.table.key if name != "cluster"]
    opened = OpenRow(
        [row[name] for name in fold.payload_names],
        row["czxid"],
        row["znode_version"],
        row["fidelity"] or "exact",
        row["is_known"],
        row["decode_error"],
        row["unseen_versions"],
        min(row["seen_seq"], seq),
        row["valid_from_seq"],
        row["valid_from_zxid"],
        row["valid_from_at"],
    )
    fold.recall(tuple(row[name] for name in names), opened)


def _read_columns(rows: pa.Table) -> Iterator[Row]:
    """Rows by name, times in epoch milliseconds."""
    columns: list[list[Any]] = []
    for name in rows.schema.names:
        column = rows[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
        columns.append(column.to_pylist(maps_as_pydicts="strict"))
    for values in zip(*columns, strict=True):
        yield dict(zip(rows.schema.names, values, strict=True))


def recall_controller_znode(tables: Tables, fold: ClusterFold, seq: int) -> None:
    """/controller, from the row of whoever held it then; a row without one has no fidelity."""
    for row in read_as_of(tables, "controller", seq):
        if row["fidelity"] is not None:
            _recall(fold.controller_znode, row, seq)


def recall_gaps(tables: Tables, fold: ClusterFold, seq: int) -> None:
    """The gaps in force; a row that ends where it begins is a count or a hole."""
    rows = sorted(read_as_of(tables, "log_gaps", seq), key=lambda row: int(row["valid_from_seq"]))
    for row in rows:
        if row["valid_to_seq"] != row["valid_from_seq"]:
            fold.sight.gaps.since[row["gap_id"]] = row["valid_from_at"]


def _recall_clocks(tables: Tables, seq: int) -> Clocks:
    sql = _LAST_COMMITS.format(seq=seq, last_ms=LAST_MS, count=COMMITS)
    return Clocks([row["late_ms"] for row in reading.query_rows(tables, sql)][::-1])


def _recall_frames(tables: Tables, seq: int) -> Frames:
    frames = Frames()
    sql = (
        "SELECT cluster, log_id, seq, op, observed_at_ms, frame['id'] AS id, frame['base'] AS base "
        "FROM znode_events WHERE op IN ('frame_begin', 'in_sync', 'seq_hole') "
        f"AND seq <= {seq} ORDER BY seq"
    )
    for row in reading.query_rows(tables, sql):
        name, base = row.pop("id"), row.pop("base")
        frames.follow(Event(**row, frame=Frame(name, base) if name else None))
    return frames
