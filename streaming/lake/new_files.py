"""Rows of a table -> files that can be stored below it: one for each partition of the table. Pure.

Whoever makes them needs no access to the lake, so Spark tasks can.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from delta_tables.table import Table
from streaming.fold.intervals import IntervalFold
from streaming.lake.arrow_rows import make_arrow_of_tuples
from streaming.lake.parquet_file import encode_file
from zklake.errors import LakeError

_NULL_DIRECTORY = "__HIVE_DEFAULT_PARTITION__"

Partition = dict[str, str | None]


class NewFile(msgspec.Struct, frozen=True, array_like=True):
    """A file that is not stored yet."""

    # Below the table.
    path: str
    partition: Partition
    data: bytes
    stats: str

    def count_rows(self) -> int:
        """How many rows it has."""
        count: int = msgspec.json.decode(self.stats)["numRecords"]
        return count


def make_files(table: Table, rows: pa.Table, name: str = "part") -> list[NewFile]:
    """The files of these rows; `name`: how their names begin."""
    for column in table.columns:
        if column.required and rows[column.name].null_count:
            raise LakeError(f"table {table.name}: a row without {column.name} was made")
    return [_make_file(partition, part, name) for partition, part in _split(table, rows)]


def make_ended_files(fold: IntervalFold) -> list[NewFile]:
    """The files of the rows that a fold has ended."""
    if not fold.ended:
        return []
    return make_files(fold.table, make_arrow_of_tuples(fold.table, fold.ended))


def write_value(value: object) -> str | None:
    """A partition's value in Delta's protocol."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _split(table: Table, rows: pa.Table) -> Iterator[tuple[Partition, pa.Table]]:
    names = list(table.partition_by)
    if not names:
        yield {}, rows
        return
    partitions = rows.select(names).group_by(names).aggregate([]).to_pylist()
    for found in partitions:
        part = rows
        for name, value in found.items() if len(partitions) > 1 else ():
            same = pc.is_null(part[name]) if value is None else pc.equal(part[name], value)
            part = part.filter(same)
        yield {name: write_value(each) for name, each in found.items()}, part.drop_columns(names)


def _make_file(partition: Partition, rows: pa.Table, name: str) -> NewFile:
    folders = [f"{key}={value or _NULL_DIRECTORY}" for key, value in partition.items()]
    path = "/".join([*folders, f"{name}-{uuid.uuid4()}.parquet"])
    return NewFile(path, partition, *encode_file(rows))
