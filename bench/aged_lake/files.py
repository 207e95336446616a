"""Many small Parquet files at once, with the statistics that Delta keeps of them.

deltalake writes them into a scratch table with a partition for each; they are then moved to where
the aged table's log will name them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from arro3.core import RecordBatchReader
from arro3.core import Table as Rows
from deltalake import DeltaTable, QueryBuilder, Schema, write_deltalake

from delta_tables.creation import make_schema
from delta_tables.table import Table

# Each file that is being written takes some memory.
_AT_ONCE = 1000
_CHUNK = "chunk"


@dataclass(frozen=True)
class DataFile:
    """One Parquet file, as an `add` of Delta's log describes it."""

    chunk: int
    add: dict[str, Any]

    @property
    def rows(self) -> int:
        """How many rows it holds."""
        return int(json.loads(self.add["stats"])["numRecords"])


class Scratch:
    """Where files are written first: a table beside the one that is being made."""

    def __init__(self, table: Table, path: Path) -> None:
        self._table, self._path = table, path
        self._names = [n for n in table.names if n not in table.partition_by]
        columns = [c for c in table.columns if c.name in self._names]
        fields = json.loads(make_schema(columns).to_json())["fields"]
        chunk = {"name": _CHUNK, "type": "long", "nullable": True, "metadata": {}}
        self._schema = Schema.from_json(json.dumps({"type": "struct", "fields": [*fields, chunk]}))

    def write_few(self, sql: str, chunk: str, where: str) -> Iterator[DataFile]:
        """Run a query; a file for each value of `chunk`, however many rows there are."""
        yield from self._write(self._query(sql, chunk, where))

    def write_many(self, sql: str, chunk: str, where: str) -> Iterator[DataFile]:
        """The same for few rows and thousands of files."""
        rows = self._query(sql, chunk, f"{where} ORDER BY {_CHUNK}").read_all()
        for part in _cut(rows):
            yield from self._write(part)

    def _query(self, sql: str, chunk: str, where: str) -> RecordBatchReader:
        names = ", ".join(self._names)
        return QueryBuilder().execute(
            f"SELECT {names}, CAST({chunk} AS BIGINT) AS {_CHUNK} FROM ({sql}) WHERE {where}"  # noqa: S608
        )

    def _write(self, rows: RecordBatchReader | Rows) -> list[DataFile]:
        shutil.rmtree(self._path, ignore_errors=True)
        delta = DeltaTable.create(str(self._path), self._schema, partition_by=[_CHUNK])
        write_deltalake(delta, rows, mode="append")
        return self._collect()

    def _collect(self) -> list[DataFile]:
        files = []
        for commit in (self._path / "_delta_log").glob("*.json"):
            actions = map(json.loads, commit.read_text().splitlines())
            files += [
                DataFile(int(action["add"]["partitionValues"][_CHUNK]), action["add"])
                for action in actions
                if "add" in action
            ]
        return sorted(files, key=lambda file: file.chunk)

    def place(self, file: DataFile, root: Path, values: Mapping[str, str | None]) -> dict[str, Any]:
        """Move a file into a partition of the aged table; returns its `add`."""
        partition = "/".join(
            f"{name}={'__HIVE_DEFAULT_PARTITION__' if value is None else value}"
            for name, value in values.items()
        )
        name = f"part-{file.chunk:05}-{Path(file.add['path']).name.removeprefix('part-')}"
        (root / partition).mkdir(parents=True, exist_ok=True)
        (self._path / unquote(file.add["path"])).rename(root / partition / name)
        path = f"{partition}/{name}"
        return {**file.add, "path": path, "partitionValues": dict(values), "dataChange": True}

    def close(self) -> None:
        """Remove the scratch table."""
        shutil.rmtree(self._path, ignore_errors=True)


def _cut(rows: Rows) -> Iterator[Rows]:
    """So many chunks at a time; the rows are in their order."""
    numbers = rows.column(_CHUNK).to_pylist()
    start = 0
    for _, part in groupby(numbers, key=_Counter(_AT_ONCE)):
        length = sum(1 for _ in part)
        yield rows.slice(start, length)
        start += length


class _Counter:
    """The number of the group in which a chunk falls, so many different ones to a group."""

    def __init__(self, at_once: int) -> None:
        self._at_once, self._seen, self._last = at_once, -1, object()

    def __call__(self, chunk: object) -> int:
        if chunk != self._last:
            self._seen, self._last = self._seen + 1, chunk
        return self._seen // self._at_once
