"""The fold without Delta: batches of events of many clusters, side by side, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from delta_tables.catalog import INTERVAL_TABLES
from delta_tables.table import Table
from streaming.codegen import choose_codegen
from streaming.lake import Lake
from streaming.parse import parse_records
from streaming.summary import Summary, summarise
from streaming.turn import Memory, Turn, fold_table, prepare
from streaming.warmup import frame_records
from zklake.events.envelope import Event, encode

Row = dict[str, Any]


class Engine:
    """Folds batches as a stream would, of any number of clusters at once."""

    def __init__(self, spark: SparkSession, tables: Sequence[Table] = INTERVAL_TABLES) -> None:
        self.spark, self.tables = spark, tables
        self.memory = Memory()
        choose_codegen(spark, 0)
        self.open_rows: dict[str, DataFrame] = {
            table.name: spark.createDataFrame([], table.schema) for table in tables
        }
        self.closed: dict[str, list[Row]] = {table.name: [] for table in tables}
        self.step_closed: dict[str, list[Row]] = {name: [] for name in self.memory.steps}
        self._done: dict[str, int] = {}
        self._waiting: list[Event] = []

    def fold(self, batch: Iterable[Event], *, final: bool = False) -> None:
        news = [e for e in (*self._waiting, *batch) if e.seq > self._done.get(e.cluster, -1)]
        records = frame_records(self.spark, [encode(event) for event in news])
        parsed = parse_records(records, "any").withColumns(
            {
                "reason": F.lit(None).cast("string"),
                "is_hole": F.lit(False),
                "is_repeat": F.lit(False),
            }
        )
        parsed = parsed.localCheckpoint()
        summary = summarise(parsed, self.tables)
        turn = prepare(self.memory, parsed, summary, final=final)
        for table in self.tables:
            self._fold_table(table, turn, summary)
        for name, rows in turn.step_rows.items():
            self.step_closed[name] += [row for row in rows if not row["is_open"]]
            self.memory.steps[name].rows = [row for row in rows if row["is_open"]]
        self._waiting = [e for e in news if e.seq >= turn.cuts.get(e.cluster, e.seq + 1)]
        for cluster, seq in summary.last_seqs.items():
            self._done[cluster] = turn.cuts.get(cluster, seq + 1) - 1

    def finish(self) -> None:
        """Fold what was left waiting: nothing follows."""
        if self._waiting:
            self.fold([], final=True)

    def _fold_table(self, table: Table, turn: Turn, summary: Summary) -> None:
        rows = fold_table(table, self.open_rows[table.name], turn, summary.odd)
        self.closed[table.name] += [row.asDict(True) for row in rows.where("NOT is_open").collect()]
        self.open_rows[table.name] = rows.where("is_open")

    def rows(self, name: str) -> list[Row]:
        """A table's rows, by cluster and place in the log."""
        if name in self.memory.steps:
            rows = self._step_rows(name)
        else:
            rows = [row.asDict(True) for row in self.open_rows[name].collect()]
            rows += self.closed[name]
        return sorted(rows, key=lambda row: (row["cluster"], row["valid_from_seq"]))

    def _step_rows(self, name: str) -> list[Row]:
        from delta_tables.catalog import TABLE_BY_NAME

        rows = self.step_closed[name] + self.memory.steps[name].rows
        lake = Lake(self.spark, "", "")
        return [row.asDict(True) for row in lake.make_rows(TABLE_BY_NAME[name], rows).collect()]
