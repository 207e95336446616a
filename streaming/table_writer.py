"""One commit into a Delta table, of rows that the driver holds: Arrow writes, deltalake commits.

Spark's own Delta writer computes the table's state anew for every commit, which takes most of a
second however few the rows are; this takes some hundredths. Large batches are left to Spark.
"""

from __future__ import annotations

import datetime
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from delta_tables.table import Table
from streaming.parquet_file import write_file
from zklake.errors import LakeError

_NULL_DIRECTORY = "__HIVE_DEFAULT_PARTITION__"

Partition = dict[str, str | None]


class Mark(NamedTuple):
    """What a commit says of itself: up to which seq of which log it goes."""

    log_id: str
    seq: int


class TableWriter:
    """Writes one table, as the only one who does; finds out when somebody else has."""

    def __init__(self, path: str, table: Table) -> None:
        self._path, self._table = path, table
        self._delta = DeltaTable(path)
        self._files, self._root = _find_files(path)
        # What this process last wrote, by log.
        self._markers: dict[str, int] = {}

    def append(self, rows: pa.Table, mark: Mark | None = None) -> None:
        """Add rows."""
        self._commit(rows, mark)

    def replace_open(self, rows: pa.Table, mark: Mark) -> None:
        """Replace the open rows and add the closed ones."""
        self._commit(rows, mark, pc.field("partition.is_open"))

    def replace_all(self, rows: pa.Table, mark: Mark) -> None:
        """Replace every row."""
        self._commit(rows, mark, pc.scalar(True))

    def note(self, mark: Mark) -> None:
        """The table's marker was moved by this process."""
        self._markers[mark.log_id] = mark.seq

    def _commit(
        self, rows: pa.Table, mark: Mark | None, replaced: pc.Expression | None = None
    ) -> None:
        self._delta.update_incremental()
        if mark is not None:
            self._refuse_foreign(mark.log_id)
        actions = self._add(rows)
        if replaced is not None:
            actions += self._remove(replaced)
        marks = [] if mark is None else [Transaction(mark.log_id, mark.seq)]
        try:
            self._delta.create_write_transaction(
                actions,
                "append",
                self._delta.schema(),
                list(self._table.partition_by),
                # Nobody else writes: whatever came in between must not be passed over.
                commit_properties=CommitProperties(max_commit_retries=0, app_transactions=marks),
            )
        except CommitFailedError as error:
            raise LakeError(f"table {self._path} could not be written: {error}") from error
        if mark is not None:
            self.note(mark)

    def _refuse_foreign(self, log_id: str) -> None:
        found = self._delta.transaction_version(log_id)
        if found != self._markers.get(log_id, found):
            raise LakeError(
                f"table {self._path} was written by somebody else meanwhile (up to seq {found}, "
                f"we to {self._markers[log_id]}): only one stream may fold a cluster into a lake"
            )

    def _remove(self, which: pc.Expression) -> Iterator[RemoveAction]:
        files = pa.table(self._delta.get_add_actions(flatten=True))
        now_ms = time.time_ns() // 1_000_000
        for file in files.filter(which).to_pylist():
            names = self._table.partition_by
            values = {name: _write_value(file[f"partition.{name}"]) for name in names}
            yield RemoveAction(file["path"], True, now_ms, file["size_bytes"], values)

    def _add(self, rows: pa.Table) -> list[AddAction | RemoveAction]:
        self._refuse_nulls(rows)
        return [self._write_file(partition, part) for partition, part in self._split(rows)]

    def _refuse_nulls(self, rows: pa.Table) -> None:
        for column in self._table.columns:
            if column.required and rows[column.name].null_count:
                raise LakeError(f"table {self._path}: a row without {column.name} was made")

    def _split(self, rows: pa.Table) -> Iterator[tuple[Partition, pa.Table]]:
        names = list(self._table.partition_by)
        if not names:
            yield {}, rows
            return
        for found in rows.select(names).group_by(names).aggregate([]).to_pylist():
            part = rows
            for name, value in found.items():
                same = pc.is_null(part[name]) if value is None else pc.equal(part[name], value)
                part = part.filter(same)
            texts = {name: _write_value(value) for name, value in found.items()}
            yield texts, part.drop_columns(names)

    def _write_file(self, partition: Partition, rows: pa.Table) -> AddAction:
        folders = [f"{name}={value or _NULL_DIRECTORY}" for name, value in partition.items()]
        path = "/".join([*folders, f"part-{uuid.uuid4()}.parquet"])
        place = f"{self._root}/{path}"
        self._files.create_dir(place.rpartition("/")[0])
        written = write_file(self._files, place, rows)
        return AddAction(
            path=path,
            size=written.size,
            partition_values=partition,
            modification_time=time.time_ns() // 1_000_000,
            data_change=True,
            stats=written.stats,
        )


def _find_files(path: str) -> tuple[pyarrow.fs.FileSystem, str]:
    if "://" in path:
        found: tuple[pyarrow.fs.FileSystem, str] = pyarrow.fs.FileSystem.from_uri(path)
        return found
    return pyarrow.fs.LocalFileSystem(), path


def _write_value(value: object) -> str | None:
    """A partition's value in Delta's protocol."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
