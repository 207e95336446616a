"""Rows that plain Python folded -> an Arrow table, as their Delta table stores them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from delta_tables.creation import make_schema
from delta_tables.table import Table
from streaming.steps.row import Row


def make_arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    """The rows; their times are epoch milliseconds, and the date of closing follows from them."""
    schema = pa.schema(make_schema(table.columns).to_arrow())
    columns = {
        field.name: _make_times(rows, field.name, field.type)
        if pa.types.is_timestamp(field.type)
        else pa.array([row.get(field.name) for row in rows], field.type)
        for field in schema
    }
    columns["closed_on"] = columns["valid_to_at"].cast(pa.date32())
    return pa.table(columns, schema=schema)


def _make_times(rows: Sequence[Row], name: str, type_: pa.DataType) -> pa.Array:
    millis = pa.array([row.get(name) for row in rows], pa.int64())
    return millis.cast(pa.timestamp("ms", "UTC")).cast(type_)
