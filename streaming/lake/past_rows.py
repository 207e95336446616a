"""Rows of the lake as plain Python folds them: dicts, times in epoch milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.table import Table

Tables = dict[str, DeltaTable]
Row = dict[str, Any]


def read_ms(tables: Tables, table: Table, where: str) -> list[Row]:
    """The rows of a table for which some SQL holds."""
    rows = reading.query_rows(tables, f"SELECT * FROM {table.name} WHERE {where}")
    times = {column.name for column in table.columns if column.type == "TIMESTAMP"}
    return [
        {name: _to_ms(value) if name in times else value for name, value in row.items()}
        for row in rows
    ]


def read_as_of(tables: Tables, name: str, seq: int) -> list[Row]:
    """The rows of a table that held then."""
    rows = read_ms(
        tables,
        TABLE_BY_NAME[name],
        f"valid_from_seq <= {seq} AND (is_open OR valid_to_seq > {seq})",
    )
    # One that was seen again since was seen then at the latest.
    return [{**row, "seen_seq": min(row["seen_seq"], seq)} for row in rows]


def _to_ms(at: datetime | None) -> int | None:
    if at is None:
        return None
    moment = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
