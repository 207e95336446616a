"""A Delta table through other people's readers; rows as dicts with plain values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta
import polars

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
