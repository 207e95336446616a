"""Columns of Arrow -> values of Python. Knows neither tables nor engines."""

from __future__ import annotations

from typing import Any

from arro3.core import DataType


def read_column(column: Any, type_: DataType) -> list[Any]:
    """The values of an arro3 column."""
    if DataType.is_interval(type_):  # arro3 has no Python value for it
        column = column.cast(DataType.string_view())
    values: list[Any] = column.to_pylist()
    if DataType.is_map(type_):  # a dict to everybody but Arrow, to whom it is a list of pairs
        values = [None if value is None else dict(value) for value in values]
    return values
