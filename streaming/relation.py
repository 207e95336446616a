"""Rows made in Python -> a DataFrame, as one literal: no Python worker is started for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession


def make_relation(spark: SparkSession, schema: str, rows: Sequence[dict[str, Any]]) -> DataFrame:
    """The rows with this schema (`name TYPE, …`); columns that a row lacks are null."""
    json = msgspec.json.encode(rows).hex()
    return spark.sql(
        f"SELECT inline(from_json(decode(X'{json}', 'UTF-8'), 'ARRAY<STRUCT<{schema}>>'))"
    )
