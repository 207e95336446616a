"""A lake with a few rows, made from the catalogue without a JVM; knows no column.

write_lake(path, "kafka", {"topics": [{"topic": "a", "valid_from_at": "2026-11-16T03:00:00Z"}]})
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deltalake import QueryBuilder, write_deltalake

from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.reading import table_path
from delta_tables.table import Column, Table
from tests.delta_tables.empty_lake import make_empty_lake

Row = Mapping[str, Any]
Rows = Sequence[Row]


def write_lake(
    lake: str, cluster: str, rows: Mapping[str, Rows], tables: Sequence[Table] = TABLES
) -> None:
    """Every table, most of them empty; what a row leaves out is null, or made up if it must be."""
    make_empty_lake(lake, cluster, tables)
    for name, given in rows.items():
        write_rows(lake, cluster, TABLE_BY_NAME[name], given)


def write_rows(lake: str, cluster: str, table: Table, rows: Rows) -> None:
    """Append rows in one commit."""
    values = ", ".join(_write_row(table, {"cluster": cluster, **row}) for row in rows)
    sql = f"SELECT * FROM (VALUES {values}) AS t({', '.join(table.names)})"
    path = table_path(lake, cluster, table.name)
    write_deltalake(path, QueryBuilder().execute(sql), mode="append")


def _write_row(table: Table, row: Mapping[str, Any]) -> str:
    unknown = row.keys() - {*table.names, "cluster"}
    assert not unknown, f"{table.name} has no {unknown}"
    end = row.get("valid_to_at")
    # As every writer of intervals fills them.
    filled = {"is_open": end is None, "closed_on": end and str(end)[:10], **row}
    return (
        f"({', '.join(_write_value(column, filled.get(column.name)) for column in table.columns)})"
    )


def _write_value(column: Column, value: Any) -> str:
    if value is None and column.required:
        value = {"STRING": "", "BOOLEAN": False}.get(column.type, 0)
    if isinstance(value, list) and "STRUCT<" in column.type:
        types = dict(re.findall(r"(\w+): (\w+)", column.type))
        return f"[{', '.join(_write_struct(each, types) for each in value)}]"
    return _write_literal(value)


def _write_struct(value: Mapping[str, Any], types: Mapping[str, str]) -> str:
    """Every row's struct has the same types, also where a field is null."""
    fields = (
        f"'{name}', CAST({_write_literal(one)} AS {types[name]})" for name, one in value.items()
    )
    return f"named_struct({', '.join(fields)})"


def _write_literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | int() | float():
            return json.dumps(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return f"X'{value.hex()}'"
        case list():
            return f"[{', '.join(map(_write_literal, value))}]"
        case dict() if value:
            pairs = (f"{_write_literal(k)}: {_write_literal(v)}" for k, v in value.items())
            return f"MAP {{{', '.join(pairs)}}}"
    raise TypeError(f"no literal for {value!r}")
