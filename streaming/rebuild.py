"""`zklake rebuild`: interval tables made anew from znode_events, in one commit each.

The same fold as the stream's, over the whole log. Records that an older zklake had to set aside,
because their version was newer than it could read, take their place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.fold.cluster import ClusterFold
from streaming.fold.row import Row
from streaming.fold.rules import Rules
from streaming.lake.arrow_rows import make_arrow, make_arrow_of_tuples
from streaming.lake.events import read_all
from streaming.lake.horizon import read_ended, read_horizon
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.recall import recall_controller_znode, recall_intervals
from streaming.lake.writer import Mark, Replacement
from zklake.errors import LakeError

# After so many events what they made is written, so that memory holds.
_EVENTS_HELD = 100_000


def rebuild(
    lake: Lake,
    names: Sequence[str],
    topic: str,
    say: Callable[[str], None],
    rules: Rules | None = None,
) -> dict[str, int]:
    """Make these tables anew, up to the watermark; returns the number of rows of each."""
    progress = read_progress(lake.path, lake.cluster, topic)
    if progress.log_id is None:
        raise LakeError(
            f"the lake {lake.path}/{lake.cluster} holds no events yet: nothing to rebuild from"
        )
    _refuse_ahead(lake, names, progress.log_id, progress.seq)
    return _Rebuild(lake, names, rules or Rules()).run(Mark(progress.log_id, progress.seq), say)


class _Rebuild:
    """Tables in the making."""

    def __init__(self, lake: Lake, names: Sequence[str], rules: Rules) -> None:
        self._lake = lake
        self._fold = ClusterFold(lake.cluster, rules)
        self._horizons = {name: read_horizon(lake, TABLE_BY_NAME[name]) for name in TABLE_BY_NAME}
        self._made = {name: self._begin(name) for name in names}
        # Of the folds of groups: the open rows as last told.
        self._open: dict[str, list[Row]] = {}
        self._recall()

    def _begin(self, name: str) -> Replacement:
        table = TABLE_BY_NAME[name]
        made = self._lake.find_writer(table).replace_all()
        for rows in read_ended(self._lake, table, self._horizons[name]):
            made.add(rows)
        return made

    def _recall(self) -> None:
        """Rows as they stood where the events of their table begin."""
        tables = reading.open_tables(self._lake.path, self._lake.cluster)
        for name, interval in self._fold.intervals.items():
            interval.horizon = self._horizons[name]
            if interval.horizon >= 0:
                recall_intervals(self._lake, tables, interval, interval.horizon, is_ahead=True)
        znode = self._fold.controller_znode
        znode.horizon = self._horizons["broker_membership"]
        if znode.horizon >= 0:
            recall_controller_znode(tables, self._fold, znode.horizon)

    def run(self, mark: Mark, say: Callable[[str], None]) -> dict[str, int]:
        """Fold the whole log, and put the tables in place."""
        entries = read_all(self._lake.path, self._lake.cluster, mark.seq)
        while held := [*itertools.islice(entries, _EVENTS_HELD)]:
            self._fold.walk(held)
            self._write_ended()
        self._fold.finish()
        self._write_ended(idle=True)
        self._write_open()
        for name, made in self._made.items():
            say(f"rebuilding {name}")
            made.commit(mark)
        return {name: made.rows for name, made in self._made.items()}

    def _write_ended(self, *, idle: bool = False) -> None:
        """Write the rows that have ended so far."""
        for name, interval in self._fold.intervals.items():
            if name in self._made:
                self._made[name].add(make_arrow_of_tuples(interval.table, interval.ended))
            interval.settle(-1)
        for step in self._fold.steps:
            self._open[step.fold.name], ended = step.take()
            self._add(step.fold.name, ended)
        for name, taken in self._fold.group_folds.take(idle=idle).items():
            self._open[name] = taken.open_rows
            self._add(name, taken.ended_rows)

    def _write_open(self) -> None:
        for name, interval in self._fold.intervals.items():
            if name in self._made:
                for shard in interval.open.shards:
                    rows = interval.list_rows(shard)
                    self._made[name].add(make_arrow_of_tuples(interval.table, rows))
        for name, held in self._open.items():
            self._add(name, held)

    def _add(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Rows of what came after the horizon; the table itself had the others."""
        if name in self._made:
            horizon = self._horizons[name]
            late = [dict(r) for r in rows if r["is_open"] or r["valid_to_seq"] > horizon]
            self._made[name].add(make_arrow(TABLE_BY_NAME[name], late))


def _refuse_ahead(lake: Lake, names: Sequence[str], log_id: str, seq: int) -> None:
    """A table that a crash left ahead of znode_events would lose what only it knows."""
    for name in names:
        if reading.read_marker(lake.path, lake.cluster, name, log_id) > seq:
            raise LakeError(
                f"{name} is ahead of znode_events in {lake.path}/{lake.cluster}: a stream was cut "
                "off. Let `zklake stream --once` finish its batch, then rebuild"
            )


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The tables to rebuild; none given means all that can be."""
    possible = tuple(t.name for t in TABLE_BY_NAME.values() if t.is_interval)
    for name in names:
        if name not in possible:
            raise LakeError(
                f"{name!r} cannot be rebuilt: it is no interval table. These can: "
                f"{', '.join(possible)}"
            )
    return tuple(names) or possible
