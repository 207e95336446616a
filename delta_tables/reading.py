"""Reading the tables of a lake without a JVM, through deltalake and its DataFusion.

It trusts its SQL: text from outside is checked first (zklake/cli/sql.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from arro3.core import DataType
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError, TableNotFoundError

from delta_tables.catalog import TABLES
from delta_tables.views import VIEWS, View
from zklake.errors import LakeError, QueryError


def table_path(lake: str, cluster: str, name: str) -> str:
    """Where a table lies: one lake per cluster."""
    return f"{lake.rstrip('/')}/{cluster}/{name}"


def open_table(lake: str, cluster: str, name: str) -> DeltaTable | None:
    """The table as it is now; None when nobody has written it yet."""
    path = table_path(lake, cluster, name)
    if "://" not in path and not (Path(path) / "_delta_log").is_dir():
        return None  # deltalake would make the directory
    try:
        return DeltaTable(path)
    except TableNotFoundError:
        return None
    except DeltaError as error:
        raise LakeError(f"table {path} cannot be read: {error}") from error


def open_tables(lake: str, cluster: str) -> dict[str, DeltaTable]:
    """Every table of the catalogue that the lake holds."""
    opened = ((table.name, open_table(lake, cluster, table.name)) for table in TABLES)
    return {name: table for name, table in opened if table is not None}


def find_views(tables: Collection[str]) -> list[View]:
    """The views that these tables suffice for."""
    return [view for view in VIEWS if set(view.inputs) <= set(tables)]


def read_batches(tables: dict[str, DeltaTable], sql: str) -> Iterator[tuple[list[str], list[Any]]]:
    """Run a query; yields (column names, columns) per batch, at least once."""
    builder = QueryBuilder()
    for name, table in tables.items():
        builder.register(name, table)
    try:
        for view in (view for view in find_views(tables) if view.name in sql):
            builder.execute(f"CREATE VIEW {view.name} AS {view.sql}")
        reader = builder.execute(sql)
        names = reader.schema.names
        yield names, [[] for _ in names]
        maps = [DataType.is_map(type_) for type_ in reader.schema.types]
        for batch in reader:
            yield (
                names,
                [
                    _read_column(column.to_pylist(), is_map)
                    for column, is_map in zip(batch.columns, maps, strict=True)
                ],
            )
    except Exception as error:  # DataFusion's errors come as bare Exception
        raise QueryError(f"the query failed: {error}") from error


def _read_column(values: list[Any], is_map: bool) -> list[Any]:
    """A map is a dict to everybody but Arrow, to whom it is a list of pairs."""
    if not is_map:
        return values
    return [None if value is None else dict(value) for value in values]


def read_rows(lake: str, cluster: str, sql: str) -> list[dict[str, Any]]:
    """Run a query over the lake's tables; rows as dicts."""
    return query_rows(open_tables(lake, cluster), sql)


def query_rows(tables: dict[str, DeltaTable], sql: str) -> list[dict[str, Any]]:
    """Run a query over tables that are open already; rows as dicts."""
    return [
        dict(zip(names, row, strict=True))
        for names, columns in read_batches(tables, sql)
        for row in zip(*columns, strict=True)
    ]


def read_marker(lake: str, cluster: str, name: str, log_id: str | None) -> int:
    """The last seq folded into an interval table (Delta's own transaction marker), or -1."""
    table = open_table(lake, cluster, name)
    if table is None or log_id is None:
        return -1
    version = table.transaction_version(log_id)
    return -1 if version is None else version
