"""Where a rebuild begins when old events were trimmed, and what it takes over from the table.

Rows that ended by then stay as they are; those that stood then are where the fold goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables import reading
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.frames import Closure
from streaming.lake import Lake
from streaming.machines.machine import Taken
from streaming.maintenance.retention import EVENTS_MARK, SAMPLE_KINDS, SAMPLES_MARK
from streaming.recall import recall_ephemerals
from streaming.sessions import Sessions
from streaming.steps.row import Row
from streaming.summary import Summary
from streaming.turn import Turn, fold_table
from zklake.events.envelope import Event

_ENDS = (
    "valid_to_seq",
    "valid_to_zxid",
    "valid_to_at",
    "valid_to_at_min",
    "ended_by",
    "closed_on",
)


def read_horizon(lake: str, cluster: str, table: Table) -> int:
    """The last seq up to which events of the table may be missing; -1: znode_events has all."""
    marks = [EVENTS_MARK]
    is_sampled = table.samples is not None or table.folded == "machine"
    if is_sampled or set(table.kinds) & set(SAMPLE_KINDS):
        marks.append(SAMPLES_MARK)
    return max(reading.read_marker(lake, cluster, ZNODE_EVENTS.name, mark) for mark in marks)


@dataclass
class LaterSessions(Sessions):
    """Sessions since a horizon: of the events before it too few are left to follow any."""

    horizon: int = -1

    def follow(
        self,
        events: Iterable[Event],
        closures: Mapping[int, Closure],
        last_seq: int,
        *,
        final: bool,
        breaks: Collection[int] | None = None,
    ) -> tuple[list[tuple[int, int]], int | None]:
        """As Sessions does, of the events behind the horizon."""
        later = (event for event in events if event.seq > self.horizon)
        return super().follow(later, closures, last_seq, final=final, breaks=breaks)


def recall_sessions(lake: str, cluster: str) -> Sessions:
    """Who was alive where the events begin, by the rows that stood then."""
    horizon = reading.read_marker(lake, cluster, ZNODE_EVENTS.name, EVENTS_MARK)
    alive = recall_ephemerals(reading.open_tables(lake, cluster), horizon) if horizon >= 0 else {}
    sessions = LaterSessions.of(alive)
    sessions.horizon = horizon
    return sessions


def keep_ended(rows: DataFrame, horizon: int) -> DataFrame:
    """The rows that no event after the horizon can change."""
    return rows.where(f"NOT is_open AND valid_to_seq <= {horizon}")


def reopen(rows: DataFrame, horizon: int) -> DataFrame:
    """The rows that stood at the horizon, as they stood."""
    stood = rows.where(f"valid_from_seq <= {horizon} AND (is_open OR valid_to_seq > {horizon})")
    types = dict(stood.dtypes)
    ends = {name: F.lit(None).cast(types[name]) for name in _ENDS}
    seen = F.least(F.col("seen_seq"), F.lit(horizon))
    return stood.withColumns(
        {**ends, "seen_seq": seen, "is_clamped": F.lit(False), "is_open": F.lit(True)}
    )


def make_rows(
    lake: Lake, table: Table, turn: Turn, summary: Summary, taken: Mapping[str, Taken]
) -> DataFrame:
    """The table's rows as a rebuild makes them: from its events, as far back as they reach."""
    horizon = read_horizon(lake.path, lake.cluster, table)
    rows = lake.read(table) if horizon >= 0 else lake.make_rows(table, [])
    if table.folded == "intervals":
        made = fold_table(table, reopen(rows, horizon), turn, summary.odd, horizon)
    else:
        folded = turn.step_rows.get(table.name) or _list_rows(taken.get(table.name))
        made = lake.make_rows(table, folded).where(f"is_open OR valid_to_seq > {horizon}")
    return keep_ended(rows, horizon).unionByName(made)


def _list_rows(taken: Taken | None) -> list[Row]:
    return [] if taken is None else [*taken.ended_rows, *taken.open_rows]
