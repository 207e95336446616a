"""Making the tables of the catalogue in a lake: columns, comments, properties; without a JVM."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from deltalake import DeltaTable, Schema

from delta_tables.table import Column, Table

_NAMES = {"INT": "integer", "BIGINT": "long"}
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[<>,:])")
# deltalake, polars, DuckDB and Trino all read protocol 1; deletion vectors, column mapping and v2
# checkpoints would each raise it. (deltalake knows no switch for type widening, and never widens.)
_PROPERTIES = {
    "delta.enableDeletionVectors": "false",
    "delta.columnMapping.mode": "none",
    "delta.checkpointPolicy": "classic",
}


def create_table(table: Table, path: str) -> DeltaTable:
    """Make an empty table."""
    return DeltaTable.create(
        path,
        make_schema(table.columns),
        partition_by=list(table.partition_by),
        description=table.grain,
        configuration={**_PROPERTIES, **table.properties},
    )


def add_missing_columns(table: Table, delta: DeltaTable) -> None:
    """Give a table that an older zklake made the columns that it lacks; they are null so far."""
    known = {field.name for field in delta.schema().fields}
    missing = [column for column in table.columns if column.name not in known]
    if missing:
        delta.alter.add_columns(list(make_schema(missing).fields))


def make_schema(columns: Iterable[Column]) -> Schema:
    """Columns with their SQL types, as Delta writes them."""
    fields = [
        {
            "name": column.name,
            "type": read_type(column.type),
            "nullable": not column.required,
            "metadata": {"comment": column.comment},
        }
        for column in columns
    ]
    return Schema.from_json(json.dumps({"type": "struct", "fields": fields}))


def read_type(sql: str) -> Any:
    """`MAP<INT, ARRAY<STRING>>` in Delta's own form."""
    tokens = _TOKEN.findall(sql)
    found = _read(tokens)
    assert not tokens, sql
    return found


def _read(tokens: list[str]) -> Any:
    name = tokens.pop(0).upper()
    if name == "ARRAY":
        _skip(tokens, "<")
        element = _read(tokens)
        _skip(tokens, ">")
        return {"type": "array", "elementType": element, "containsNull": True}
    if name == "MAP":
        _skip(tokens, "<")
        key = _read(tokens)
        _skip(tokens, ",")
        value = _read(tokens)
        _skip(tokens, ">")
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
    if name == "STRUCT":
        return {"type": "struct", "fields": _read_fields(tokens)}
    return _NAMES.get(name, name.lower())


def _read_fields(tokens: list[str]) -> list[dict[str, Any]]:
    fields = []
    _skip(tokens, "<")
    while True:
        name = tokens.pop(0)
        _skip(tokens, ":")
        fields.append({"name": name, "type": _read(tokens), "nullable": True, "metadata": {}})
        if tokens.pop(0) == ">":
            return fields


def _skip(tokens: list[str], wanted: str) -> None:
    found = tokens.pop(0)
    assert found == wanted, (found, wanted)
