"""What the driver must remember, read back from the lake: as of its watermark.

A table may be ahead of the watermark (a crash between two commits): its rows that ended beyond it
still stood at the watermark, and are remembered as they stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import STEP_TABLES, TABLES
from delta_tables.table import Table
from streaming.frames import Frames
from streaming.lake import Lake
from streaming.machines.registry import Rules
from streaming.past_rows import read_ms
from streaming.recall_crew import recall_crew
from streaming.sessions import Ephemeral, Sessions
from streaming.sights import State
from streaming.steps.folding import StepState
from streaming.turn import Memory
from zklake.events.envelope import Event, Frame

Tables = dict[str, DeltaTable]


def find_recall_seq(seq: int, markers: Mapping[str, int]) -> int:
    """As of which seq the driver's memory is read back: what follows it, it must follow again.

    The watermark, or the marker of a machine's table that is behind it. A table that was never
    written begins at the watermark: `zklake rebuild` gives it its past.
    """
    return min([seq, *(marker for marker in markers.values() if marker >= 0)])


def recall(lake: Lake, log_id: str, seq: int, markers: Mapping[str, int], rules: Rules) -> Memory:
    """The memory of a driver that has followed everything up to `seq`, a watermark or less.

    `markers`: up to where the machines' tables are written.
    """
    tables = reading.open_tables(lake.path, lake.cluster)
    memory = Memory(
        sessions={lake.cluster: Sessions.of(recall_ephemerals(tables, seq))},
        frames={lake.cluster: _recall_frames(tables, seq)},
        crews={lake.cluster: recall_crew(lake, tables, seq, markers, rules)},
        rules=rules,
    )
    for table in STEP_TABLES:
        marker = reading.read_marker(lake.path, lake.cluster, table.name, log_id)
        memory.steps[table.name] = StepState(_recall_rows(tables, table, seq), marker)
    return memory


def _recall_rows(tables: Tables, table: Table, seq: int) -> list[dict[str, Any]]:
    return read_ms(tables, table, f"is_open OR valid_to_seq > {seq}")


def recall_ephemerals(tables: Tables, seq: int) -> dict[str, Ephemeral]:
    """The ephemerals that were alive then, by path."""
    alive = {}
    for table in TABLES:
        if not table.ephemeral_paths:
            continue
        sql = (
            f"SELECT * FROM {table.name} WHERE session IS NOT NULL "
            f"AND valid_from_seq <= {seq} AND (is_open OR valid_to_seq > {seq})"
        )
        for row in reading.query_rows(tables, sql):
            path = _place(table, row)
            state = State(row["czxid"], row["znode_version"], row["fidelity"])
            alive[path] = Ephemeral(row["session"], state, row["seen_seq"])
    return alive


def _place(table: Table, row: dict[str, Any]) -> str:
    """The row's path: by the first template that the row can fill."""
    for template in table.ephemeral_paths:
        fields = [name for _, name, _, _ in Formatter().parse(template) if name]
        if all(row[name] is not None for name in fields):
            return template.format_map(row)
    raise LookupError(f"no path of {table.name} fits the row")


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
