"""One batch of the log -> one commit in every table it touches; znode_events comes last.

Each table is guarded on its own (interval tables by Delta's transaction marker, znode_events by its
largest seq, quarantine by offset), so a replay, another cut into batches, or a crash between two
tables changes nothing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame

from delta_tables import reading
from delta_tables.catalog import INTERVAL_TABLES, MACHINE_TABLES, STEP_TABLES, TABLE_BY_NAME
from delta_tables.table import Table
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.codegen import choose_codegen
from streaming.continuity import add_breaks, judge_seq
from streaming.heartbeats import keep_first_of_minute
from streaming.kept import find_breaks, read_after
from streaming.lake import Lake
from streaming.machines.registry import Rules
from streaming.marks import closes
from streaming.memory import release_memory
from streaming.parse import RECORD_SCHEMA, parse_records
from streaming.phases import Phases
from streaming.progress import Progress
from streaming.recall import find_recall_seq, recall
from streaming.relation import make_relation
from streaming.steps.row import Row
from streaming.summary import Summary, summarise, weigh
from streaming.table_writer import Mark
from streaming.turn import Memory, Turn, fold_table, prepare
from zklake.errors import OtherLog

# A commit is mostly Delta's own waiting and planning: more threads than cores pay.
_WRITERS = 4


@dataclass
class Held:
    """What is kept in memory of an interval table between batches."""

    # The last seq that is in the table.
    marker: int
    # None: not read yet.
    open_rows: DataFrame | None = None


class Fold:
    """Folds batches into one lake, in order. After an error it must be made anew."""

    def __init__(
        self,
        lake: Lake,
        progress: Progress,
        phases: Phases | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.lake, self.progress = lake, progress
        self.rules = rules or Rules()
        self.phases = phases or Phases()
        self._held: dict[str, Held] = {}
        self._memory: Memory | None = None
        # Events that a batch had to leave to the next one.
        self._waiting: DataFrame | None = None
        self._batches = 0
        # Up to where the driver need not follow the log again.
        markers = {} if progress.log_id is None else self._hold_machines(progress.log_id)
        self._recalled_seq = find_recall_seq(progress.seq, markers)

    def fold_batch(self, records: DataFrame, *, final: bool = False) -> Summary:
        """Fold one batch of rows of Spark's Kafka source; `final`: none follows for now."""
        with self.phases.time("parse"):
            events, summary = self._read(records)
        choose_codegen(self.lake.spark, summary.rows)
        self.progress.note_read(summary.read_seq, summary.read_offset, summary.observed_at_ms)
        if summary.bad:
            self._quarantine(events, summary)
        cut = None
        if summary.last_seq is not None:
            cut = self._fold_events(events, summary, summary.last_seq, final)
        self._waiting = None
        if cut is not None or summary.breaks:
            waits = "false" if cut is None else f"reason IS NULL AND seq >= {cut}"
            self._waiting = events.where(f"is_repeat OR {waits}")
        self._batches += 1
        release_memory(self._batches)
        return summary

    def _read(self, records: DataFrame) -> tuple[DataFrame, Summary]:
        """Records -> judged events, held in memory, and what they are."""
        progress = self.progress
        # What was read before is passed over.
        news = records.where(f"offset > {progress.read_offset}")
        events = parse_records(news, self.lake.cluster)
        if self._waiting is not None:
            events = self._waiting.unionByName(events)
        followed_seq = progress.seq
        if self._memory is None and self._recalled_seq < progress.seq:
            followed_seq = self._recalled_seq
            again = read_after(self.lake, followed_seq, progress.seq)
            events = again.unionByName(events, allowMissingColumns=True)
        events = events.localCheckpoint()
        scope = (INTERVAL_TABLES, progress.seq, followed_seq, progress.read_offset)
        summary = summarise(events, *scope, read_seq=progress.read_seq)
        if summary.breaks:
            read = (progress.read_seq, progress.read_at_ms, progress.read_offset)
            events = add_breaks(judge_seq(events, *read)).localCheckpoint()
            summary = summarise(events, *scope)
        return events, summary

    def finish(self) -> None:
        """Fold what was left waiting: nothing follows for now."""
        if self._waiting is not None:
            self.fold_batch(make_relation(self.lake.spark, RECORD_SCHEMA, []), final=True)

    def _fold_events(
        self, events: DataFrame, summary: Summary, last_seq: int, final: bool
    ) -> int | None:
        """Fold into every table; returns the seq from which on events must wait."""
        log_id = self._check_log(summary)
        good = events.where("reason IS NULL")
        breaks = None
        if self._memory is None:
            markers = self._hold_machines(log_id)
            self._memory = recall(self.lake, log_id, self._recalled_seq, markers, self.rules)
            if self._recalled_seq < self.progress.seq:
                # What is followed again lacks most of its heartbeats.
                breaks = find_breaks(good)
        with self.phases.time("prepare"):
            turn = prepare(self._memory, good, summary, final=final, breaks=breaks)
        cut = turn.cuts.get(self.lake.cluster)
        last_seq = last_seq if cut is None else cut - 1
        if last_seq > self.progress.seq:
            # Not a heartbeat's: znode_events keeps few of them, and no table may seem ahead of it.
            marker = summary.find_last_event(last_seq)
            for table in STEP_TABLES:
                self._commit_steps(table, turn.step_rows[table.name], log_id, marker)
            self._commit_tables(turn, summary, log_id, marker)
            self._commit_machines(log_id)
            with self.phases.time("znode_events"):
                self._append_events(turn.events, summary, Mark(log_id, last_seq))
            self.progress.log_id = log_id
            self.progress.seq = last_seq
        return cut

    def _quarantine(self, events: DataFrame, summary: Summary) -> None:
        assert summary.last_bad_offset is not None
        known = self.progress.quarantined_offset
        if summary.last_bad_offset > known:
            bad = events.where(f"reason IS NOT NULL AND kafka_offset > {known}")
            (size,) = bad.selectExpr("coalesce(sum(length(record)), 0)").collect()[0]
            self.lake.append(QUARANTINE, bad, weigh(summary.bad, size))
            self.progress.quarantined_offset = summary.last_bad_offset

    def _check_log(self, summary: Summary) -> str:
        known = self.progress.log_id
        if known is None and (summary.last_seq or 0) <= self.progress.seq:
            raise OtherLog(
                f"the log that was accepted ends at seq {summary.last_seq}, and the lake "
                f"{self.lake.path}/{self.lake.cluster} already holds {self.progress.seq}: its "
                "history cannot follow. Fold it into a new lake (--lake)"
            )
        ids = sorted({*summary.log_ids, *([known] if known else [])})
        if len(ids) == 1:
            return ids[0]
        raise OtherLog(
            f"the lake {self.lake.path}/{self.lake.cluster} was folded from log {known or ids[0]}, "
            f"and the topic now holds another one ({', '.join(i for i in ids if i != known)}): "
            "the log was re-created. If that is meant, `zklake stream --accept-log` goes on with "
            "the new one; else fold it into a new lake (--lake)"
        )

    def _commit_steps(self, table: Table, rows: list[Row], log_id: str, last_seq: int) -> None:
        assert self._memory is not None
        state = self._memory.steps[table.name]
        if state.is_changed:
            known = {_identify(table, row) for row in state.ended_rows}
            news = [row for row in rows if _identify(table, row) not in known]
            with self.phases.time(table.name):
                self.lake.replace_steps(table, news, Mark(log_id, last_seq))
            state.marker, state.is_changed = last_seq, False
        # After a crash the table may be ahead of this batch, and others read it as of each seq.
        state.rows = [row for row in rows if row["is_open"] or row["valid_to_seq"] > last_seq]

    def _commit_tables(self, turn: Turn, summary: Summary, log_id: str, last_seq: int) -> None:
        def commit(table: Table) -> None:
            with self.phases.time(table.name):
                self._fold_table(table, turn, summary, log_id, last_seq)

        touched = [t for t in INTERVAL_TABLES if self._is_touched(t, turn, summary, log_id)]
        # One wrapper each: threads that share one share Spark's local properties, and spoil them.
        tasks = [(inheritable_thread_target(self.lake.spark)(commit), table) for table in touched]
        with ThreadPoolExecutor(_WRITERS) as pool:
            for done in [pool.submit(task, table) for task, table in tasks]:
                done.result()

    def _commit_machines(self, log_id: str) -> None:
        assert self._memory is not None
        for name, taken in self._memory.find_crew(self.lake.cluster).take().items():
            table = TABLE_BY_NAME[name]
            if taken.seq > self._hold(table, log_id).marker:
                rows = [*taken.ended_rows, *taken.open_rows]
                with self.phases.time(name):
                    self.lake.replace_steps(table, rows, Mark(log_id, taken.seq))
                self._held[name] = Held(taken.seq)

    def _is_touched(self, table: Table, turn: Turn, summary: Summary, log_id: str) -> bool:
        held = self._hold(table, log_id)
        touched = summary.touched[table.name]
        return (touched is not None and touched > held.marker) or any(
            c.end_seq > held.marker and closes(table, c) for c in turn.closures
        )

    def _fold_table(
        self, table: Table, turn: Turn, summary: Summary, log_id: str, last_seq: int
    ) -> None:
        held = self._held[table.name]
        open_rows = held.open_rows or self.lake.read_open_rows(table)
        rows = fold_table(table, open_rows, turn, summary.odd, held.marker)
        self.lake.replace_open(table, rows, summary.weight, Mark(log_id, last_seq))
        self._held[table.name] = Held(last_seq, rows.where("is_open"))

    def _hold(self, table: Table, log_id: str) -> Held:
        if table.name not in self._held:
            marker = reading.read_marker(self.lake.path, self.lake.cluster, table.name, log_id)
            self._held[table.name] = Held(marker)
        return self._held[table.name]

    def _hold_machines(self, log_id: str) -> dict[str, int]:
        """Markers of the machines' tables, by name."""
        return {table.name: self._hold(table, log_id).marker for table in MACHINE_TABLES}

    def _append_events(self, events: DataFrame, summary: Summary, mark: Mark) -> None:
        progress = self.progress
        minute = summary.find_heartbeat_minute(mark.seq)
        rows = events.where(f"seq > {progress.seq} AND op <> 'heartbeat'")
        has_beat = minute > progress.heartbeat_minute
        if has_beat:
            beats = events.where(f"seq > {progress.seq} AND op = 'heartbeat'")
            rows = rows.unionByName(keep_first_of_minute(beats, progress.heartbeat_minute))
        if summary.fresh or has_beat:
            self.lake.append(ZNODE_EVENTS, rows, summary.weight, mark)
        progress.heartbeat_minute = max(progress.heartbeat_minute, minute)


def _identify(table: Table, row: Row) -> tuple[object, ...]:
    return (*(row[name] for name in table.key), row["valid_from_seq"], row["valid_to_seq"])
