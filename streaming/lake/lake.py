"""A lake as the stream writes it: its tables created, appended to, and their open rows replaced."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
from deltalake.transaction import AddAction

from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.creation import add_missing_columns, create_table
from delta_tables.table import Table
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.fold.intervals import IntervalFold
from streaming.fold.row import Row
from streaming.lake.arrow_rows import find_schema, make_arrow, make_arrow_of_tuples
from streaming.lake.events import make_event_rows
from streaming.lake.new_files import NewFile, make_ended_files
from streaming.lake.writer import Mark, TableWriter
from streaming.log.continuity import Entry
from streaming.log.records import Record


class Lake:
    """The tables of one cluster, for the one stream that writes them."""

    def __init__(self, path: str, cluster: str) -> None:
        self.path, self.cluster = path, cluster
        self._writers: dict[str, TableWriter] = {}

    def table_path(self, table: Table) -> str:
        """Where the table lies."""
        return reading.table_path(self.path, self.cluster, table.name)

    def create_tables(self) -> None:
        """Make the tables that are not there yet, and the columns."""
        for table in TABLES:
            known = reading.open_table(self.path, self.cluster, table.name)
            if known is None:
                create_table(table, self.table_path(table))
            else:
                add_missing_columns(table, known)

    def find_writer(self, table: Table) -> TableWriter:
        """Who writes the table."""
        if table.name not in self._writers:
            self._writers[table.name] = TableWriter(self.table_path(table), table)
        return self._writers[table.name]

    def write_events(
        self, entries: Sequence[Entry], topic: str, files: Sequence[NewFile] = ()
    ) -> list[AddAction]:
        """Write events, and files of others; nobody sees them before they are appended."""
        writer = self.find_writer(ZNODE_EVENTS)
        written = (
            writer.write(make_event_rows(entries, topic, datetime.now(UTC))) if entries else []
        )
        return [*written, *writer.store(files)]

    def append_events(self, files: list[AddAction], mark: Mark) -> None:
        """Add events to znode_events."""
        self.find_writer(ZNODE_EVENTS).append_files(files, mark)

    def append_quarantine(self, rejected: Sequence[tuple[Record, str]], topic: str) -> None:
        """Add records that could not be folded, each with the reason."""
        schema, size = find_schema(QUARANTINE.name), len(rejected)
        at_us = pa.array([record.at_us for record, _ in rejected], pa.int64())
        columns = {
            "kafka_topic": [topic] * size,
            "kafka_partition": [0] * size,
            "kafka_offset": [record.offset for record, _ in rejected],
            "kafka_at": at_us.cast(schema.field("kafka_at").type),
            "reason": [reason for _, reason in rejected],
            "record": [record.value for record, _ in rejected],
            "ingested_at": [datetime.now(UTC)] * size,
        }
        self.find_writer(QUARANTINE).append(pa.table(columns, schema))

    def replace_rows(
        self, table: Table, open_rows: Sequence[Row], ended: Sequence[Row], mark: Mark
    ) -> None:
        """Replace the open rows of a table, and add those that ended."""
        self.commit_rows(table, self.write_rows(table, open_rows, ended), mark)

    def write_rows(
        self, table: Table, open_rows: Sequence[Row], ended: Sequence[Row]
    ) -> list[AddAction]:
        """Write rows into files; nobody sees them before they are committed."""
        writer, written = self.find_writer(table), list[AddAction]()
        for rows in (ended, open_rows):
            written += writer.write(make_arrow(table, rows)) if rows else []
        return written

    def commit_rows(self, table: Table, files: list[AddAction], mark: Mark) -> None:
        """Put files in the place of the open rows, and beside the closed ones."""
        self.find_writer(table).replace_open_files(files, mark)

    def replace_shards(self, fold: IntervalFold, mark: Mark, files: Sequence[NewFile] = ()) -> None:
        """Replace the open rows that the fold has touched; add those that ended, and `files`."""
        table, opened = fold.table, fold.open
        writer = self.find_writer(table)
        opened.fit()
        count = len(opened.shards)
        is_laid_out = writer.count_shards() == count
        shards = {
            number: make_arrow_of_tuples(table, fold.list_rows(shard))
            for number, shard in enumerate(opened.shards)
            if shard.is_touched or not is_laid_out
        }
        writer.replace_shards([*make_ended_files(fold), *files], shards, count, mark)
        fold.settle(mark.seq)
