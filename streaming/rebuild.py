"""`zklake rebuild`: interval tables made anew from znode_events, in one commit each.

The same fold as the stream's, over the whole log. A large log is folded stretch by stretch, each in
Spark tasks, while the driver walks what looks at several znodes. Records that an older zklake had
to set aside, because their version was newer than it could read, take their place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.division import Heads, Outcome, Step, gather
from streaming.fold.cluster import ClusterFold
from streaming.fold.group_folds import ZNODE_OPS
from streaming.fold.part import PART_NAMES, WALKED_KINDS, PartStart, prepare_parts
from streaming.fold.row import Row
from streaming.fold.rules import Rules
from streaming.lake.arrow_rows import make_arrow, make_arrow_of_tuples
from streaming.lake.events import (
    Stretch,
    list_stretches,
    make_entries,
    read_all,
    read_healed,
    read_rows,
)
from streaming.lake.horizon import read_ended, read_horizon
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.recall import recall_controller_znode, recall_intervals
from streaming.lake.writer import Mark, Replacement
from streaming.maintenance.thinning import THINNED, THINNED_MARK
from zklake.errors import LakeError

# After so many events what they made is written, so that memory holds.
_EVENTS_HELD = 100_000
# So many are divided between tasks at once.
_STRETCH_ROWS = 500_000
_PASSING_OPS = pa.array(sorted(ZNODE_OPS))
_WALKED_KINDS = pa.array(sorted(WALKED_KINDS))


# How many events of how many are folded.
Count = Callable[[int, int], None]


def _count_nothing(done: int, total: int) -> None:
    """For whoever does not want to know."""


class Tasks(NamedTuple):
    """Who folds large logs: what each task makes of its part of a stretch."""

    run: Callable[[PartStart, Stretch], list[Outcome]]
    # From so many events on.
    large: int
    stretch_rows: int = _STRETCH_ROWS


def rebuild(
    lake: Lake,
    names: Sequence[str],
    topic: str,
    say: Callable[[str], None],
    *,
    rules: Rules | None = None,
    tasks: Tasks | None = None,
    count: Count = _count_nothing,
) -> dict[str, int]:
    """Make these tables anew, up to the watermark; returns the number of rows of each."""
    progress = read_progress(lake.path, lake.cluster, topic)
    if progress.log_id is None:
        raise LakeError(
            f"the lake {lake.path}/{lake.cluster} holds no events yet: nothing to rebuild from"
        )
    refuse_ahead(lake, names, progress.log_id, progress.seq)
    rebuilding = _Rebuild(lake, names, rules or Rules())
    return rebuilding.run(Mark(progress.log_id, progress.seq), say, tasks, count)


class _Rebuild:
    """Tables in the making."""

    def __init__(self, lake: Lake, names: Sequence[str], rules: Rules) -> None:
        self._lake = lake
        self._fold = ClusterFold(lake.cluster, rules)
        self._horizons = {name: read_horizon(lake, TABLE_BY_NAME[name]) for name in TABLE_BY_NAME}
        self._made = {name: self._begin(name) for name in names}
        # Of the folds of groups: the open rows as last written.
        self._open: dict[str, Sequence[Row]] = {}
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

    def run(
        self, mark: Mark, say: Callable[[str], None], tasks: Tasks | None, count: Count
    ) -> dict[str, int]:
        """Fold the whole log, and put the tables in place."""
        stretches = [] if tasks is None else self._list_stretches(mark.seq, tasks)
        if tasks is None or not stretches:
            self._fold_here(mark.seq, count)
        else:
            for number, stretch in enumerate(stretches, start=1):
                say(f"folding part {number} of {len(stretches)} of the log in Spark tasks")
                self._fold_divided(stretch, tasks)
                count(sum(each.rows for each in stretches[:number]), sum(r.rows for r in stretches))
        self._fold.finish()
        self._write_ended(idle=True)
        self._write_open()
        for name, made in self._made.items():
            say(f"rebuilding {name}")
            # What is made anew has every round again.
            made.commit(mark, [THINNED_MARK] if name in THINNED else [])
        return {name: made.rows for name, made in self._made.items()}

    def _list_stretches(self, last_seq: int, tasks: Tasks) -> list[Stretch]:
        """What to divide between tasks; nothing if the log is small, or read from two tables."""
        place = (self._lake.path, self._lake.cluster)
        if not set(PART_NAMES) & self._made.keys() or read_healed(*place):
            return []
        stretches = list_stretches(*place, last_seq, tasks.stretch_rows)
        return stretches if sum(each.rows for each in stretches) >= tasks.large else []

    def _fold_here(self, last_seq: int, count: Count) -> None:
        place = (self._lake.path, self._lake.cluster)
        total = sum(each.rows for each in list_stretches(*place, last_seq, _STRETCH_ROWS))
        entries, done = read_all(*place, last_seq), 0
        count(done, total)
        while held := [*itertools.islice(entries, _EVENTS_HELD)]:
            self._fold.walk(held)
            self._write_ended()
            done += len(held)
            count(done, total)

    def _fold_divided(self, stretch: Stretch, tasks: Tasks) -> None:
        """Fold a stretch of the log in tasks, and beside them what looks at several znodes."""
        start = prepare_parts(self._fold)
        self._fold.divide(PART_NAMES)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(tasks.run, start, stretch)
            for passed, entry, _ in _read_steps(self._lake, stretch):
                if passed is not None:
                    self._fold.pass_over(passed.seq, passed.observed_at_ms)
                if entry is not None:
                    self._fold.walk((entry,))
            outcomes = running.result()
        if refusals := [each.refusal for each in outcomes if each.refusal]:
            raise LakeError(f"znode_events could not be folded in Spark tasks: {refusals[0]}")
        made = gather(outcomes)
        self._fold.take_over(made.changed)
        for name, files in made.files.items():
            if name in self._made:
                self._made[name].add_files(files)
        self._write_ended()

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


def _read_steps(lake: Lake, stretch: Stretch) -> Iterator[Step]:
    """The way of the walk over a stretch of the log: what tasks fold is passed over."""
    for rows in read_rows(lake.path, lake.cluster, stretch.after_seq, stretch.last_seq):
        is_passed = pc.and_not(
            pc.is_in(rows["op"], _PASSING_OPS), pc.is_in(rows["kind"], _WALKED_KINDS)
        )
        is_left = pc.invert(is_passed)
        heads = Heads(*(rows[name] for name in ("kafka_offset", "seq", "observed_at_ms")))
        numbers = pc.indices_nonzero(is_left).to_pylist()
        entries = make_entries(rows.filter(is_left))
        yield from heads.list_steps(numbers, ((entry, False) for entry in entries))


def refuse_ahead(lake: Lake, names: Sequence[str], log_id: str, seq: int) -> None:
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
