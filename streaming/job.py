"""One batch of the log -> one commit in every table it touches; znode_events comes last.

Each table is guarded on its own (interval tables by Delta's transaction marker, znode_events by its
largest seq, quarantine by offset), so a replay, another cut into batches, or a crash between two
tables changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from delta_tables import reading
from delta_tables.catalog import INTERVAL_TABLES
from delta_tables.table import Table
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.heartbeats import keep_first_of_minute
from streaming.intervals import fold
from streaming.lake import Lake
from streaming.parse import parse_records
from streaming.progress import Progress
from streaming.summary import Summary, summarise
from zklake.errors import OtherLog


@dataclass
class Held:
    """What is kept in memory of an interval table between batches."""

    open_rows: DataFrame
    # The last seq that is in the table.
    marker: int


class Fold:
    """Folds batches into one lake, in order. After an error it must be made anew."""

    def __init__(self, lake: Lake, progress: Progress) -> None:
        self.lake, self.progress = lake, progress
        self._held: dict[str, Held] = {}

    def fold_batch(self, records: DataFrame) -> Summary:
        """Fold one batch of rows of Spark's Kafka source."""
        events = parse_records(records, self.lake.cluster).localCheckpoint()
        summary = summarise(events, INTERVAL_TABLES, self.progress)
        if summary.bad:
            self._quarantine(events, summary)
        if summary.last_seq is None:
            return summary
        log_id = self._check_log(summary)
        good = events.where("reason IS NULL")
        for table in INTERVAL_TABLES:
            self._fold_table(table, good, summary, log_id, summary.last_seq)
        self._append_events(good, summary)
        self.progress.log_id = log_id
        self.progress.seq = max(self.progress.seq, summary.last_seq)
        self.progress.frames = summary.frames
        return summary

    def _quarantine(self, events: DataFrame, summary: Summary) -> None:
        assert summary.last_bad_offset is not None
        known = self.progress.quarantined_offset
        if summary.last_bad_offset > known:
            bad = events.where(f"reason IS NOT NULL AND kafka_offset > {known}")
            self.lake.append(QUARANTINE, bad, summary.bad)
            self.progress.quarantined_offset = summary.last_bad_offset

    def _check_log(self, summary: Summary) -> str:
        known = self.progress.log_id
        ids = sorted({*summary.log_ids, *([known] if known else [])})
        if len(ids) == 1:
            return ids[0]
        raise OtherLog(
            f"the lake {self.lake.path}/{self.lake.cluster} was folded from log {known or ids[0]}, "
            f"and the topic now holds another one ({', '.join(i for i in ids if i != known)}): "
            "the log was re-created. Fold it into a new lake (--lake)"
        )

    def _fold_table(
        self, table: Table, events: DataFrame, summary: Summary, log_id: str, last_seq: int
    ) -> None:
        held = self._hold(table, log_id)
        touched = summary.touched[table.name]
        closures = [c for c in summary.closures if c.end_seq > held.marker]
        if not closures and (touched is None or touched <= held.marker):
            return
        news = events.where(f"seq > {held.marker}")
        rows = fold(table, held.open_rows, news, closures).localCheckpoint()
        self.lake.replace_open(table, rows, summary.good, log_id=log_id, seq=last_seq)
        self._held[table.name] = Held(rows.where("is_open"), last_seq)

    def _hold(self, table: Table, log_id: str) -> Held:
        if table.name not in self._held:
            marker = reading.read_marker(self.lake.path, self.lake.cluster, table.name, log_id)
            self._held[table.name] = Held(self.lake.read_open_rows(table), marker)
        return self._held[table.name]

    def _append_events(self, events: DataFrame, summary: Summary) -> None:
        progress = self.progress
        rows = events.where(f"seq > {progress.seq} AND op <> 'heartbeat'")
        has_beat = summary.heartbeat_minute > progress.heartbeat_minute
        if has_beat:
            beats = events.where(f"seq > {progress.seq} AND op = 'heartbeat'")
            rows = rows.unionByName(keep_first_of_minute(beats, progress.heartbeat_minute))
        if summary.fresh or has_beat:
            self.lake.append(ZNODE_EVENTS, rows, summary.good)
        progress.heartbeat_minute = max(progress.heartbeat_minute, summary.heartbeat_minute)
