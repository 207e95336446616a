"""DataFrames out of SQL texts: over other frames, or over rows made in Python as one literal.

Spark analyses a chain of DataFrame calls anew at every link, which for a small batch takes longer
than to run it; a text is analysed once. And no Python worker is started for a literal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession


def query(sql: str, **frames: DataFrame) -> DataFrame:
    """Run SQL over frames, by name. Threads that share a session must not share names."""
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    return next(iter(frames.values())).sparkSession.sql(sql)


def make_relation(spark: SparkSession, schema: str, rows: Sequence[dict[str, Any]]) -> DataFrame:
    """The rows with this schema (`name TYPE, …`); columns that a row lacks are null."""
    return spark.sql(relation_sql(schema, rows))


def relation_sql(schema: str, rows: Sequence[dict[str, Any]]) -> str:
    """The same as SQL: a SELECT of the rows."""
    json = msgspec.json.encode(rows).hex()
    return f"SELECT inline(from_json(decode(X'{json}', 'UTF-8'), 'ARRAY<STRUCT<{schema}>>'))"
