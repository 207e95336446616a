"""Writing a lake's tables with Spark: create, append, and the interval table's atomic commit."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.table import Table, millis
from streaming.relation import make_relation
from streaming.steps.row import Row

# Open rows are replaced and closed ones added in one commit: the latter lie outside replaceWhere.
_CONSTRAINT_CHECK = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
# Up to here one file per commit and partition; beyond, as many as there are tasks.
_ONE_FILE_ROWS = 200_000


class Lake:
    """The tables of one cluster, for the one stream that writes them."""

    def __init__(self, spark: SparkSession, path: str, cluster: str) -> None:
        self.spark, self.path, self.cluster = spark, path, cluster
        spark.conf.set(_CONSTRAINT_CHECK, "false")

    def table_path(self, table: Table) -> str:
        """Where the table lies."""
        return reading.table_path(self.path, self.cluster, table.name)

    def create_tables(self) -> None:
        """Make the tables that are not there yet."""
        for table in TABLES:
            if reading.open_table(self.path, self.cluster, table.name) is None:
                self.spark.sql(table.create_sql(self.table_path(table)))

    def read(self, table: Table) -> DataFrame:
        """The whole table."""
        return self.spark.read.format("delta").load(self.table_path(table))

    def read_open_rows(self, table: Table) -> DataFrame:
        """An interval table's open rows, held in memory."""
        rows = self.read(table).where("is_open")
        return rows.select(*table.names).localCheckpoint()

    def make_rows(self, table: Table, rows: Sequence[Row]) -> DataFrame:
        """Rows that Python folded, as a frame; their times are epoch milliseconds."""
        types = {c.name: "BIGINT" if c.type == "TIMESTAMP" else c.type for c in table.columns}
        schema = ", ".join(f"`{name}` {type_}" for name, type_ in types.items())
        frame = make_relation(self.spark, schema, rows)
        times = {c.name: F.expr(millis(c.name)) for c in table.columns if c.type == "TIMESTAMP"}
        frame = frame.withColumns(times)
        return frame.withColumn("closed_on", F.col("valid_to_at").cast("date"))

    def append(self, table: Table, rows: DataFrame, count: int) -> None:
        """Add rows to an append-only table, made by its columns' SQL."""
        made = rows.select(
            *(F.expr(c.sql or "NULL").cast(c.type).alias(c.name) for c in table.made)
        )
        _gather(made, count).write.format("delta").mode("append").save(self.table_path(table))

    def replace_open(
        self, table: Table, rows: DataFrame, count: int, *, log_id: str, seq: int
    ) -> None:
        """Replace the open rows and add the closed ones; the marker says up to which seq."""
        self._overwrite(table, rows, count, replaceWhere="is_open = true", **_mark(log_id, seq))

    def replace_all(
        self, table: Table, rows: DataFrame, count: int, *, log_id: str, seq: int
    ) -> None:
        """Replace every row, in one commit."""
        # A marker that stands already would make Delta pass over the write in silence.
        stands = reading.read_marker(self.path, self.cluster, table.name, log_id) >= seq
        self._overwrite(table, rows, count, **({} if stands else _mark(log_id, seq)))

    def _overwrite(self, table: Table, rows: DataFrame, count: int, **options: str) -> None:
        writer = _gather(rows, count).write.format("delta").mode("overwrite").options(**options)
        writer.save(self.table_path(table))


def _mark(log_id: str, seq: int) -> dict[str, str]:
    return {"txnAppId": log_id, "txnVersion": str(seq)}


def _gather(rows: DataFrame, count: int) -> DataFrame:
    return rows.coalesce(1) if count < _ONE_FILE_ROWS else rows
