"""A Delta table through other people's readers: every column of every row is the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta
import polars
from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import TABLES

Row = dict[str, Any]


def read_with_polars(path: str) -> list[Row]:
    return polars.read_delta(path).to_dicts()


def read_with_duckdb(path: str) -> list[Row]:
    # The extension comes as a wheel of its own: nothing is downloaded at run time.
    (extension,) = Path(duckdb_extension_delta.__file__).parent.rglob("delta.duckdb_extension")
    with duckdb.connect() as connection:
        connection.execute(f"LOAD '{extension}'")
        connection.execute("SET TimeZone = 'UTC'")
        described = connection.execute("DESCRIBE SELECT * FROM delta_scan(?)", [path]).fetchall()
        names = [str(column[0]) for column in described]
        # Python's side of DuckDB would want pytz for times with a zone.
        columns = ", ".join(
            f'"{name}"::TIMESTAMP' if "TIME ZONE" in type_ else f'"{name}"'
            for name, type_, *_ in described
        )
        cursor = connection.execute(f"SELECT {columns} FROM delta_scan(?)", [path])
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


READERS: dict[str, Callable[[str], list[Row]]] = {
    "polars": read_with_polars,
    "duckdb": read_with_duckdb,
}


def check_readers(lake: str, cluster: str) -> None:
    """The same rows through deltalake, polars and DuckDB, and nothing newer than protocol 1."""
    for table in TABLES:
        path = reading.table_path(lake, cluster, table.name)
        wanted = _spell_rows(reading.read_rows(lake, cluster, f"SELECT * FROM {table.name}"))
        for reader, read in READERS.items():
            assert _spell_rows(read(path)) == wanted, f"{table.name} through {reader}"
        protocol = DeltaTable(path).protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)


def _spell_rows(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted((name, spell(value)) for name, value in row.items())) for row in rows)


def spell(value: Any) -> str:
    """A value in words that do not depend on who read it."""
    match value:
        case datetime():
            return value.replace(tzinfo=UTC).isoformat()
        case date():
            return value.isoformat()
        case bytes() | memoryview():
            return bytes(value).hex()
        case dict():
            return repr(sorted((spell(name), spell(each)) for name, each in value.items()))
        case [{"key": _, "value": _, **others}, *_] if not others:  # a map, as polars has it
            return spell({pair["key"]: pair["value"] for pair in value})
        case list() | tuple():
            return repr([spell(each) for each in value])
    return repr(value)
