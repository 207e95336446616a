"""The shape of rows: columns of a table as the catalogue says, and those of a query of our own."""

from __future__ import annotations

import re
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from dashboard.openapi.shapes import Either, Instant, Named, Shape, choose, say
from delta_tables.asking.querying import list_columns
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.statuses import ORDER
from delta_tables.table import ENDED_BY, Column, Table
from delta_tables.views import VIEWS

_SCALARS: dict[str, Any] = {
    "STRING": str,
    "INT": int,
    "BIGINT": int,
    "DOUBLE": float,
    "BOOLEAN": bool,
    "TIMESTAMP": Instant,
    "DATE": date,
    "BINARY": bytes,
}
_ARRAY = re.compile(r"ARRAY<(.+)>")
_MAP = re.compile(r"MAP<(\w+), (.+)>")
# Of plain values.
_STRUCT = re.compile(r"STRUCT<([^<>]+)>")
# Columns that hold one of a few words; the catalogue names them in the comment.
WORDS: dict[str, tuple[str, ...]] = {
    "coordinator": ("zookeeper", "kafka"),
    "status": ORDER,
    "lag_quality": ("exact", "interpolated", "extrapolated", "unknown"),
    "outcome": ("settled", "failed", "ongoing"),
    "held": ("leader_away", "unowned", "owner_crashed", "owner_stuck", "unknown"),
    "trigger": (
        "member_joined",
        "member_left",
        "session_ended",
        "partitions_added",
        "topic_changed",
        "topic_matched",
        "owner_released",
        "unknown",
    ),
    "exit": ("clean", "crashed", "unknown"),
    "trigger_exit": ("clean", "crashed", "unknown"),
    "operation": ("reassignment", "preferred_election", "topic_deletion"),
    "entity_type": ("topics", "clients", "users", "brokers", "ips"),
}
_VIEWS = {view.name: view for view in VIEWS}
_DESCRIBED: dict[str, Named] = {}


def describe_table(table: Table) -> Named:
    """A row of a table with all its columns; the same each time, for a name stands for one type."""
    if table.name not in _DESCRIBED:
        columns = {one.name: _describe_column(table, one) for one in table.columns}
        _DESCRIBED[table.name] = Named(table.name, columns)
    return _DESCRIBED[table.name]


def describe_rows(sql: str, /, **made: Shape) -> dict[str, Shape]:
    """A row of a query of our own; `made` says the shape of what is no table's column."""
    fields: dict[str, Shape] = {}
    for column in list_columns(sql.format_map(_Anything())):
        shape = made.pop(column.name, None)
        if shape is None:
            assert column.source is not None, _explain_missing(column.name)
            shape = _find_column(*column.source)
        fields[column.name] = shape
    assert not made, f"not selected: {', '.join(made)}"
    return fields


def describe_any(tables: tuple[Table, ...]) -> Either:
    """A row of any of these tables."""
    return Either(tuple(describe_table(table) for table in tables))


class _Anything(dict[str, str]):
    """Conditions that are filled in later: a query has the same columns under any."""

    def __missing__(self, name: str) -> str:
        return "true"


def _find_column(source: str, name: str) -> Shape:
    if source in _VIEWS:
        view = next(one for one in list_columns(_VIEWS[source].sql) if one.name == name)
        # What a view makes of a column under its name has its shape.
        known = view.source or _find_namesake(source, name)
        assert known is not None, _explain_missing(name, source)
        return _find_column(*known)
    table = TABLE_BY_NAME[source]
    return _describe_column(table, next(one for one in table.columns if one.name == name))


def _find_namesake(view: str, name: str) -> tuple[str, str] | None:
    inputs = (one for one in _VIEWS[view].inputs if name in TABLE_BY_NAME[one].names)
    return next(((one, name) for one in inputs), None)


def _describe_column(table: Table, column: Column) -> Shape:
    if column.name == "ended_by":
        said = "; ".join(f"{word}: {ENDED_BY[word]}" for word in table.ends)
        return say(choose(*table.ends) | None, said)
    words = WORDS.get(column.name)
    type_ = choose(*words) if words else _read_type(column.type)
    return say(type_ if column.required else type_ | None, column.comment)


def _explain_missing(name: str, source: str | None = None) -> str:
    whole = name if source is None else f"{source}.{name}"
    return f'nobody says what {whole} is: describe_rows(sql, {name}=say(int, "what it means"))'


def _read_type(text: str) -> Any:
    if array := _ARRAY.fullmatch(text):
        return list[_read_type(array[1])]  # type: ignore[misc]
    if pairs := _MAP.fullmatch(text):
        # In JSON the keys are text, whatever they are.
        return dict[_read_type(pairs[1]), _read_type(pairs[2])]  # type: ignore[misc]
    if struct := _STRUCT.fullmatch(text):
        types = {_SCALARS[field.partition(": ")[2]] for field in struct[1].split(", ")}
        return dict[str, reduce(or_, sorted(types, key=str), None)]  # type: ignore[misc]
    return _SCALARS[text]
