"""Delta tables without rows, made from the catalogue without a JVM."""

from __future__ import annotations

from collections.abc import Iterable

from delta_tables.creation import create_table
from delta_tables.reading import table_path
from delta_tables.table import Table


def make_empty_lake(lake: str, cluster: str, tables: Iterable[Table]) -> None:
    """Every one of these tables, as the stream would create it."""
    for table in tables:
        create_table(table, table_path(lake, cluster, table.name))
