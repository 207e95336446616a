"""Reading the tables of a lake without a JVM, through deltalake and its DataFusion.

It trusts its SQL: text from outside is checked first, and runs in a process of its own
(delta_tables/asking/sandbox.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError, TableNotFoundError

from delta_tables.asking.lakes import Lake, is_remote
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.values import read_column
from delta_tables.views import VIEWS, View
from zklake.errors import LakeError, QueryError

# What a query may name.
KNOWN = (*(table.name for table in TABLES), *(view.name for view in VIEWS))
# Names are folded to lower case, as everywhere in SQL; a time without a zone is UTC.
_SESSION = {
    "datafusion.sql_parser.enable_ident_normalization": "true",
    "datafusion.execution.time_zone": "UTC",
    # Divided between threads, the windows of root_cause count what waits at their merge many times
    # over: `zklake why` on a lake of ten minutes failed as if 4 GiB were used up, or took minutes.
    "datafusion.optimizer.repartition_windows": "false",
}
_WITH = re.compile(r"\s*WITH\s+", re.IGNORECASE)
# As Delta's columns are.
_NULLS = {"TIMESTAMP": "arrow_cast(NULL, 'Timestamp(Microsecond, Some(\"UTC\"))')"}


def table_path(lake: str, cluster: str, name: str) -> str:
    """Where a table lies: one lake per cluster."""
    return f"{lake.rstrip('/')}/{cluster}/{name}"


def open_table(lake: str, cluster: str, name: str) -> DeltaTable | None:
    """The table as it is now; None when nobody has written it yet."""
    path = table_path(lake, cluster, name)
    if not is_remote(path) and not (Path(path) / "_delta_log").is_dir():
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


def open_named(lakes: Iterable[Lake], names: Collection[str]) -> dict[str, list[DeltaTable]]:
    """The tables that these tables and views need, from each lake that holds them."""
    views = {view.name: view for view in VIEWS}
    needed = {one for name in names for one in (views[name].inputs if name in views else [name])}
    opened: dict[str, list[DeltaTable]] = {name: [] for name in sorted(needed)}
    for lake in lakes:
        for name, tables in opened.items():
            table = open_table(lake.path, lake.cluster, name)
            tables.extend([] if table is None else [table])
    return {name: tables for name, tables in opened.items() if tables}


def build_engine(
    tables: Mapping[str, Sequence[DeltaTable]], sql: str, only: Mapping[str, str] | None = None
) -> QueryBuilder:
    """DataFusion with these tables, and the views that sql names."""
    engine = register_tables(tables, only)
    create_views(engine, tables, sql)
    return engine


def register_tables(
    tables: Mapping[str, Sequence[DeltaTable]],
    only: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> QueryBuilder:
    """DataFusion with these tables, each the union over its lakes, in the version they have now.

    `only`: conditions by table; of such a table no other rows are there. They may ask the tables
    that come before it.
    """
    engine = start_engine(settings)
    for name, parts in tables.items():
        add_table(engine, name, parts, (only or {}).get(name))
    return engine


def start_engine(settings: Mapping[str, str] | None = None) -> QueryBuilder:
    """DataFusion without tables."""
    return QueryBuilder({**_SESSION, **(settings or {})})


def add_table(
    engine: QueryBuilder, name: str, parts: Sequence[DeltaTable], condition: str | None = None
) -> None:
    """Add a table, the union over its lakes; with a condition no other rows of it are there."""
    if len(parts) == 1 and condition is None and not _find_missing(name, parts[0]):
        engine.register(name, parts[0])
        return
    for number, part in enumerate(parts):
        engine.register(f"{number}/{name}", part)
    rows = f"SELECT * FROM ({_write_union(name, parts)}) WHERE {condition or 'true'}"  # noqa: S608
    engine.execute(f"CREATE VIEW {name} AS {rows}")


def create_views(engine: QueryBuilder, tables: Collection[str], sql: str) -> None:
    """Add the views that sql names, as far as these tables suffice for them."""
    for view in _find_named(find_views(tables), sql):
        engine.execute(f"CREATE VIEW {view.name} AS {view.sql}")


def inline_views(tables: Collection[str], sql: str) -> str:
    """The same query of our own without views: to create one costs as much as to plan it."""
    views = _find_named(find_views(tables), sql)
    if not views:
        return sql
    named = ", ".join(f"{view.name} AS (\n{view.sql}\n)" for view in views)
    head = _WITH.match(sql)
    return f"WITH {named}, {sql[head.end() :]}" if head else f"WITH {named} {sql}"


def bound_memory(engine: QueryBuilder, most_bytes: int) -> None:
    """Let a query use so much, and no disk: beyond it fails with a sentence."""
    engine.execute(f"SET datafusion.runtime.memory_limit = '{most_bytes >> 20}M'")
    engine.execute("SET datafusion.runtime.max_temp_directory_size = '0'")


def _find_named(views: Sequence[View], sql: str) -> list[View]:
    """The views that sql names, and those that they build on, which come before them."""
    text, found = sql.lower(), list[View]()
    for view in reversed(views):
        if view.name in text:
            text += view.sql
            found.append(view)
    return found[::-1]


def _write_union(name: str, parts: Sequence[DeltaTable]) -> str:
    """SQL for all the rows. A lake that another release wrote may lack a column.

    UNION ALL BY NAME would say it shorter, but DataFusion 55 fails on it when a struct is read.
    """
    held = [[field.name for field in part.schema().fields] for part in parts]
    missing = {column: null for part in parts for column, null in _find_missing(name, part).items()}
    columns = list(dict.fromkeys([*(column for names in held for column in names), *missing]))
    selects = []
    for number, names in enumerate(held):
        chosen = (
            f'"{column}"' if column in names else f'{missing.get(column, "NULL")} AS "{column}"'
            for column in columns
        )
        selects.append(f'SELECT {", ".join(chosen)} FROM "{number}/{name}"')  # noqa: S608
    return " UNION ALL ".join(selects)


def _find_missing(name: str, part: DeltaTable) -> dict[str, str]:
    """Columns of the catalogue that a lake of an older release lacks until its stream is newer."""
    table = TABLE_BY_NAME.get(name)
    if table is None:
        return {}
    known = {field.name for field in part.schema().fields}
    return {
        column.name: _NULLS.get(column.type, f"CAST(NULL AS {column.type})")
        for column in table.columns
        # What every row has cannot have come later.
        if column.name not in known and not column.required and "<" not in column.type
    }


def run_sql(engine: QueryBuilder, sql: str) -> Iterator[tuple[list[str], list[Any]]]:
    """Run a query; yields (column names, columns) per batch, at least once."""
    reader = engine.execute(sql)
    names, types = reader.schema.names, reader.schema.types
    yield names, [[] for _ in names]
    for batch in reader:
        yield names, [read_column(*pair) for pair in zip(batch.columns, types, strict=True)]


def read_batches(tables: dict[str, DeltaTable], sql: str) -> Iterator[tuple[list[str], list[Any]]]:
    """Run a query of our own; yields (column names, columns) per batch, at least once."""
    try:
        engine = build_engine({name: [table] for name, table in tables.items()}, sql)
        yield from run_sql(engine, sql)
    except Exception as error:  # DataFusion's errors come as bare Exception
        raise QueryError(f"the query failed: {error}") from error


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


def quote(text: str) -> str:
    """SQL: a text."""
    return "'" + text.replace("'", "''") + "'"
