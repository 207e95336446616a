"""Rows that the fold made -> an Arrow table, as their Delta table stores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import pyarrow as pa

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.creation import make_schema
from delta_tables.table import Table
from streaming.fold.failure import Unfoldable
from streaming.fold.row import Row, StoredRow, StoredRows

_MILLIS = pa.timestamp("ms", "UTC")
# So many rows at a time are turned into columns: they and their values then stay in the cache of
# the CPU. A hundred thousand at once take three times as long.
_CHUNK = 2048
# What Arrow raises where a value is none of the column's.
MISFITS = (pa.ArrowException, OverflowError, TypeError, ValueError)


def make_arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Rows by name; their times are epoch milliseconds."""
    if isinstance(rows, StoredRows):
        return make_arrow_of_tuples(table, rows.tuples)
    names = _list_stored(table.name)
    try:
        tuples: Sequence[StoredRow] = [*map(itemgetter(*names), rows)]
    except KeyError:  # not every row has every column
        tuples = [tuple([row.get(name) for name in names]) for row in rows]
    return make_arrow_of_tuples(table, tuples)


def make_arrow_of_tuples(table: Table, rows: Sequence[StoredRow]) -> pa.Table:
    """Rows as tuples in stored order, all columns but closed_on."""
    chunks = [rows[first : first + _CHUNK] for first in range(0, len(rows) or 1, _CHUNK)]
    return pa.concat_tables([_make_chunk(table, chunk) for chunk in chunks])


def _make_chunk(table: Table, rows: Sequence[StoredRow]) -> pa.Table:
    names = _list_stored(table.name)
    columns: Sequence[Sequence[Any]] = [*zip(*rows, strict=True)] or [()] * len(names)
    return _make(table.name, dict(zip(names, columns, strict=True)))


@cache
def _list_stored(name: str) -> tuple[str, ...]:
    return tuple(each for each in TABLE_BY_NAME[name].names if each != "closed_on")


@cache
def find_schema(name: str) -> pa.Schema:
    """The table's columns as Arrow has them."""
    return pa.schema(make_schema(TABLE_BY_NAME[name].columns).to_arrow())


def _make(name: str, values: Mapping[str, Sequence[Any]]) -> pa.Table:
    try:
        return _make_table(name, values)
    except MISFITS as error:
        _blame(name, values)
        raise AssertionError(f"{name}: no single row is at fault") from error


def _blame(name: str, values: Mapping[str, Sequence[Any]]) -> None:
    """Find the row that does not fit the table: the event that began it is at fault."""
    for place, seq in enumerate(values["valid_from_seq"]):
        try:
            _make_table(name, {each: column[place : place + 1] for each, column in values.items()})
        except MISFITS as error:
            raise Unfoldable(seq, f"{name}: {error}") from error


def _make_table(name: str, values: Mapping[str, Sequence[Any]]) -> pa.Table:
    schema = find_schema(name)
    columns = {
        field.name: _make_column(values[field.name], field.type)
        for field in schema
        if field.name in values
    }
    # The date of closing follows from its time.
    columns["closed_on"] = columns["valid_to_at"].cast(pa.date32())
    return pa.table(columns, schema=schema)


def _make_column(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(type_):
        return pa.array(values, pa.int64()).cast(_MILLIS).cast(type_)
    return pa.array(values, type_)
