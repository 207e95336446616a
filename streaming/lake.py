"""A lake as the stream writes it: its tables created, appended to, and their open rows replaced."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.creation import add_missing_columns, create_table
from delta_tables.table import Table
from streaming.steps.arrow import make_arrow
from streaming.steps.row import Row
from streaming.table_writer import Mark, TableWriter

# Open rows are replaced and closed ones added in one commit: the latter lie outside replaceWhere.
_CONSTRAINT_CHECK = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
# Up to so many records of a batch the driver itself writes their rows: 200,000 take some 100 MB of
# it for a moment, and half the time that Spark's own Delta writer takes.
_SMALL = 200_000


class Lake:
    """The tables of one cluster, for the one stream that writes them."""

    def __init__(self, spark: SparkSession, path: str, cluster: str) -> None:
        self.spark, self.path, self.cluster = spark, path, cluster
        spark.conf.set(_CONSTRAINT_CHECK, "false")
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

    def read(self, table: Table) -> DataFrame:
        """The whole table."""
        return self.spark.read.format("delta").load(self.table_path(table))

    def read_open_rows(self, table: Table) -> DataFrame:
        """An interval table's open rows, held in memory."""
        # Not by Spark: of a table that it has not met yet it replays the log, with jobs of its own.
        delta = DeltaTable(self.table_path(table))
        rows = delta.to_pyarrow_table(filters=[("is_open", "=", True)], columns=list(table.names))
        return self._make_frame(table, rows).localCheckpoint()

    def make_rows(self, table: Table, rows: Sequence[Row]) -> DataFrame:
        """Rows that Python folded, as a frame."""
        return self._make_frame(table, make_arrow(table, rows))

    def _make_frame(self, table: Table, rows: pa.Table) -> DataFrame:
        if rows.num_rows:
            return self.spark.createDataFrame(rows)
        # pyspark makes no frame of an empty Arrow table.
        nulls = ", ".join(f"CAST(NULL AS {c.type}) AS {c.name}" for c in table.columns)
        return self.spark.sql(f"SELECT {nulls} LIMIT 0")

    def append(self, table: Table, rows: DataFrame, count: int, mark: Mark | None = None) -> None:
        """Add rows, made of so many records by the columns' SQL, to an append-only table."""
        made = rows.selectExpr(*(f"CAST({c.sql} AS {c.type}) AS {c.name}" for c in table.made))
        writer = self._find_writer(table)
        if count < _SMALL:
            writer.append(made.toArrow(), mark)
        else:
            options = {} if mark is None else _write_mark(mark)
            spark_writer = made.write.format("delta").mode("append").options(**options)
            spark_writer.save(self.table_path(table))
            if mark is not None:
                writer.note(mark)

    def replace_open(self, table: Table, rows: DataFrame, count: int, mark: Mark) -> None:
        """Replace the open rows and add the closed ones; made of so many records."""
        writer = self._find_writer(table)
        if count < _SMALL:
            writer.replace_open(rows.toArrow(), mark)
        else:
            self._overwrite(table, rows, replaceWhere="is_open = true", **_write_mark(mark))
            writer.note(mark)

    def replace_steps(self, table: Table, rows: Sequence[Row], mark: Mark) -> None:
        """The same for rows that Python folded."""
        self._find_writer(table).replace_open(make_arrow(table, rows), mark)

    def replace_all(self, table: Table, rows: DataFrame, count: int, mark: Mark) -> None:
        """Replace every row, in one commit; there are so many, or fewer large ones."""
        if count < _SMALL:
            self._find_writer(table).replace_all(rows.toArrow(), mark)
            return
        found = reading.read_marker(self.path, self.cluster, table.name, mark.log_id)
        # A marker that stands already would make Delta pass over the write in silence.
        self._overwrite(table, rows, **({} if found >= mark.seq else _write_mark(mark)))

    def _overwrite(self, table: Table, rows: DataFrame, **options: str) -> None:
        writer = rows.write.format("delta").mode("overwrite").options(**options)
        writer.save(self.table_path(table))

    def _find_writer(self, table: Table) -> TableWriter:
        if table.name not in self._writers:
            self._writers[table.name] = TableWriter(self.table_path(table), table)
        return self._writers[table.name]


def _write_mark(mark: Mark) -> dict[str, str]:
    return {"txnAppId": mark.log_id, "txnVersion": str(mark.seq)}
