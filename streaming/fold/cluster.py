"""The walk: every event of one cluster's log, once, in order of seq, through all that it changes.

Pure. What must be known before an event can be folded (does it end a session, does it close a
frame, was the watcher blind) is settled first; then each table takes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from delta_tables.catalog import INTERVAL_TABLES, STEP_TABLES
from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, SESSION
from delta_tables.samples import KAFKA
from delta_tables.table import Table
from streaming.fold import admin_operations, log_gaps
from streaming.fold.admin_operations import AdminOperations
from streaming.fold.apart import ReadEvents
from streaming.fold.cluster_exits import ClusterExits
from streaming.fold.config_history import ConfigHistory
from streaming.fold.context import IN_SIGHT, Context, TreeSight
from streaming.fold.controller import ControllerFold
from streaming.fold.failure import blame_event
from streaming.fold.frames import Closure, Rounds
from streaming.fold.group_folds import GroupFolds
from streaming.fold.intervals import IntervalFold
from streaming.fold.log_gaps import LogGaps
from streaming.fold.open_rows import Key
from streaming.fold.row import Row
from streaming.fold.rules import Rules, make_group_folds
from streaming.fold.sessions import Ephemeral, Released, SessionRuns
from streaming.log.continuity import Entry
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME

HEARTBEAT_MS = 60_000
# /controller goes with a session, too; `controller` itself is made of two znodes.
CONTROLLER_ZNODE = Table(
    name="controller_znode",
    grain="The life of /controller; it is no table of the lake.",
    columns=(CLUSTER, SESSION, *INTERVAL_COLUMNS),
    key=("cluster",),
    folded="intervals",
    kinds=("controller",),
)
# What matters to the tables that several znodes make.
_STEP_OPS = (*log_gaps.OPS, *admin_operations.OPS)
STEP_KINDS = frozenset(kind for table in STEP_TABLES for kind in table.kinds)
_NO_INPUTS: Mapping[str, Any] = {}
StepFold = LogGaps | ControllerFold | AdminOperations | ConfigHistory


class StepTable:
    """A table that several znodes make, and up to which seq the lake has it."""

    def __init__(self, fold: StepFold, marker: int = -1) -> None:
        self.fold, self.marker = fold, marker
        self.is_touched = False

    def apply(self, event: Event, context: Context) -> None:
        """Take one event, if it is none of those that the table holds."""
        if event.seq > self.marker and self.fold.concerns(event, context):
            self.fold.apply(event, context)
            self.is_touched = True

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the rows that are open, those that have ended since)."""
        self.is_touched = False
        return self.fold.take()


class Steps(NamedTuple):
    """The tables that several znodes make."""

    log_gaps: StepTable
    controller: StepTable
    admin_operations: StepTable
    config_history: StepTable


def make_steps(
    cluster: str,
    rows: Mapping[str, Iterable[Row]] | None = None,
    markers: Mapping[str, int] | None = None,
) -> Steps:
    """From rows as the lake has them; of `controller` also those that ended since the start."""
    rows, markers = rows or {}, markers or {}

    def list_open(name: str) -> list[Row]:
        return [row for row in rows.get(name, ()) if row["is_open"]]

    folds: tuple[StepFold, ...] = (
        LogGaps(list_open("log_gaps")),
        ControllerFold(cluster, rows.get("controller", ())),
        AdminOperations(cluster, list_open("admin_operations")),
        ConfigHistory(list_open("config_history")),
    )
    return Steps(*(StepTable(fold, markers.get(fold.name, -1)) for fold in folds))


class ClusterFold:
    """All that is known of one cluster after the last event that was folded."""

    def __init__(self, cluster: str, rules: Rules | None = None) -> None:
        self.cluster = cluster
        self._sessions: dict[int, int] = {}
        self.intervals = {t.name: self._make_interval(t) for t in INTERVAL_TABLES}
        self.controller_znode = self._make_interval(CONTROLLER_ZNODE)
        znodes = (*self.intervals.values(), self.controller_znode)
        self._by_kind = {kind: fold for fold in znodes for kind in fold.table.kinds}
        self._by_op: dict[str, list[IntervalFold]] = {}
        for fold in self.intervals.values():
            if fold.table.samples is not None:
                self._by_op.setdefault(fold.table.samples.op, []).append(fold)
        self.steps = make_steps(cluster)
        self.group_folds: GroupFolds = make_group_folds(cluster, rules or Rules())
        self.sight, self.rounds = TreeSight(), Rounds()
        # Of tables whose znodes are folded elsewhere for now: what ends rows there.
        self._postponed: list[tuple[IntervalFold, Closure, Context]] = []
        self.exits = ClusterExits(self.intervals, lambda: self.group_folds)
        self.runs = SessionRuns(self._find_ephemeral, lambda one: self._sessions.get(one, 0))
        # The last minute of which a heartbeat is kept.
        self.heartbeat_minute = -1
        # The last event but heartbeats: few of them are kept, and no table may seem ahead of it.
        self.event_seq = -1

    def _make_interval(self, table: Table) -> IntervalFold:
        return IntervalFold(table, self.cluster, self._sessions)

    def walk(self, entries: Iterable[Entry]) -> list[Entry]:
        """Take entries of the log; those that are folded by now and kept in the lake."""
        kept: list[Entry] = []
        for entry in entries:
            if self.runs.passes(entry.event):
                self._take(entry, False, kept)
            else:
                self._take_all(self.runs.take(entry), kept)
        return kept

    def pass_over(self, seq: int, at_ms: int) -> list[Entry]:
        """Events up to that one were folded elsewhere, and concern nothing here."""
        kept = self.finish()
        self.exits.members.end_run()
        self.event_seq = seq
        self.group_folds.pass_time(seq, at_ms)
        return kept

    def divide(self, tables: Iterable[str], read_states: ReadEvents | None = None) -> None:
        """Until they are taken over, the rows of these tables' znodes are made elsewhere.

        `read_states`: the events of partitions' states, where not all of them are met here.
        """
        for name in tables:
            self.intervals[name].is_elsewhere = True
        self.exits.divide(read_states)

    def take_over(self, changed: Mapping[str, Iterable[tuple[Key, bytes | None]]]) -> None:
        """Open rows that were made elsewhere, by table, packed; None: it has ended.

        Of a znode without events nothing was made there: what ended its row is done here.
        """
        for name, rows in changed.items():
            self.intervals[name].take_over(rows)
        for fold in self.intervals.values():
            fold.is_elsewhere = False
        for fold, closure, context in self._postponed:
            fold.close(closure, context)
        self._postponed = []
        self.exits.settle()

    def finish(self) -> list[Entry]:
        """Nothing follows for now: fold what was held back."""
        kept: list[Entry] = []
        self._take_all(self.runs.release(), kept)
        return kept

    def _take_all(self, released: Iterable[Released], kept: list[Entry]) -> None:
        for entry, closes_session in released:
            self._take(entry, closes_session, kept)

    def _take(self, entry: Entry, closes_session: bool, kept: list[Entry]) -> None:
        event = entry.event
        if not self._is_kept(event):
            return
        try:
            self._apply(event, closes_session)
        except Exception as error:
            raise blame_event(event.seq, error) from error
        kept.append(entry)

    def _is_kept(self, event: Event) -> bool:
        """Of each minute's heartbeats the first: time passes with the records that are kept."""
        if event.op != "heartbeat":
            self.event_seq = event.seq
            return True
        minute = event.observed_at_ms // HEARTBEAT_MS
        is_first = minute > self.heartbeat_minute
        self.heartbeat_minute = max(self.heartbeat_minute, minute)
        return is_first

    def _apply(self, event: Event, closes_session: bool) -> None:
        context = self.sight.find_context(event, closes_session=closes_session)
        self._apply_steps(event, context)
        context = self.exits.follow(event, context)
        if self._is_elsewhere(event):
            self.exits.note_apart(event)
        self._apply_intervals(event, context)
        self.group_folds.apply(event, context)
        self.sight.apply(event)

    def _is_elsewhere(self, event: Event) -> bool:
        fold = self._by_kind.get(event.kind or "")
        return fold is not None and fold.is_elsewhere

    def _apply_steps(self, event: Event, context: Context) -> None:
        if event.kind in STEP_KINDS or event.op in _STEP_OPS:
            for step in self.steps:
                step.apply(event, context)

    def _apply_intervals(self, event: Event, context: Context) -> None:
        fold = self._by_kind.get(event.kind or "")
        is_here = fold is not None and not fold.is_elsewhere and event.seq > fold.horizon
        spot = fold.find_spot(event) if fold is not None and is_here else None
        if fold is not None and spot is not None:
            inputs = self._read_inputs(fold.table, event.seq) if fold.table.as_of else _NO_INPUTS
            fold.apply(event, spot, context, inputs)
        for sampled in self._by_op.get(event.op, ()):
            if event.seq > sampled.horizon and sampled.table.samples is not None:
                sampled.apply_samples(event, sampled.table.samples)
        if context.closure is not None:
            self._close(context.closure, context)
        # Groups that Kafka keeps are in no gap of ZooKeeper's.
        if event.op == "log_ends" and (closure := self.rounds.follow(event)) is not None:
            self._close(closure, IN_SIGHT)

    def _close(self, closure: Closure, context: Context) -> None:
        for fold in (*self.intervals.values(), self.controller_znode):
            if closure.end_seq <= fold.horizon:
                continue
            if fold.is_elsewhere and closure.coordinator != KAFKA:
                self._postponed.append((fold, closure, context))
                self.exits.close_apart(fold.table.name, closure)
            else:
                fold.close(closure, context)

    def _read_inputs(self, table: Table, seq: int) -> dict[str, Any]:
        """The columns that a table reads of others, as of an event's seq."""
        return {
            wanted.column: getattr(self.steps, wanted.table).fold.find_as_of(wanted.column, seq)
            for wanted in table.as_of
        }

    def _find_ephemeral(self, entry: Entry) -> Ephemeral | None:
        event = entry.event
        fold = self._by_kind.get(event.kind or "")
        spot = None if fold is None else fold.find_spot(event)
        if fold is None or spot is None:
            return None
        is_ephemeral = KIND_BY_NAME[event.kind or ""].mode == "ephemeral"
        session = fold.find_session(spot.key) if event.seq > fold.horizon else None
        return Ephemeral((fold.table.name, *spot.key), session, is_ephemeral)
