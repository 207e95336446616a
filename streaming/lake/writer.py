"""One commit into a Delta table, of rows that the driver holds: Arrow writes, deltalake commits.

Spark's own Delta writer computes the table's state anew for every commit, which takes most of a
second however few the rows are; this takes some hundredths. Which files hold the open rows is
remembered between commits, so that a commit costs what it changes, not what the table holds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from delta_tables.table import Table
from streaming.lake.new_files import NewFile, Partition, make_files, write_value
from streaming.lake.parquet_file import store_file
from zklake.errors import LakeError

_SHARD = re.compile(r"shard-(\d+)-of-(\d+)-[^/]*$")


class Mark(NamedTuple):
    """What a commit says of itself: up to which seq of which log it goes."""

    log_id: str
    seq: int


class File(NamedTuple):
    """A file of the table's newest version."""

    path: str
    size: int
    partition: Partition

    @property
    def shard(self) -> tuple[int, int] | None:
        """(which shard it is, of how many); None: it is none."""
        found = _SHARD.search(self.path)
        return None if found is None else (int(found[1]), int(found[2]))


class TableWriter:
    """Writes one table, as the only one who does; finds out when somebody else has."""

    def __init__(self, path: str, table: Table) -> None:
        self._path, self._table = path, table
        self._delta = DeltaTable(path)
        self._files, self._root = _find_files(path)
        # The files of the open rows, and of which version they are.
        self._open: dict[str, File] = {}
        self._version: int | None = None
        # What this process last wrote, by log.
        self._markers: dict[str, int] = {}

    def append(self, rows: pa.Table, mark: Mark | None = None) -> None:
        """Add rows."""
        self.append_files(self.write(rows), mark)

    def write(self, rows: pa.Table) -> list[AddAction]:
        """Write rows into files; nobody sees them before they are appended."""
        return self._add(rows)

    def append_files(self, files: list[AddAction], mark: Mark | None = None) -> None:
        """Add the rows of files that were written before."""
        self._begin(mark)
        self._commit(files, [], mark)

    def replace_open(self, rows: pa.Table, mark: Mark) -> None:
        """Replace the open rows and add the closed ones."""
        self.replace_open_files(self.write(rows), mark)

    def replace_open_files(self, files: list[AddAction], mark: Mark) -> None:
        """The same, of rows in files that were written before."""
        self._begin(mark)
        self._commit(files, [*self._open.values()], mark)

    def replace_shards(
        self,
        ended: Iterable[NewFile],
        shards: Mapping[int, pa.Table],
        count: int,
        mark: Mark,
    ) -> None:
        """Replace these shards of `count` and add rows that ended; files of no such shard go.

        By the version that `count_shards` has found, or the last commit: that of another process
        since then is found out as it is committed.
        """
        self._refuse_foreign(mark.log_id)
        removed = [
            file
            for file in self._open.values()
            if file.shard is None or file.shard[1] != count or file.shard[0] in shards
        ]
        if any(file.shard is None or file.shard[1] != count for file in removed):
            assert len(shards) == count, "another layout is replaced whole"
        added = self.store(ended)
        for number, rows in shards.items():
            if rows.num_rows:
                added += self._add(rows, f"shard-{number:05}-of-{count:05}")
        self._commit(added, removed, mark)

    def replace_all(self) -> Replacement:
        """Begin to replace every row; nothing is seen of it before it is committed."""
        self._begin(None)
        return Replacement(self)

    def count_shards(self) -> int | None:
        """How many shards hold the open rows; None: they lie otherwise."""
        self._begin(None)
        counts = {None if file.shard is None else file.shard[1] for file in self._open.values()}
        return counts.pop() if len(counts) == 1 else None

    def read_open(self) -> Iterator[pa.Table]:
        """The open rows, file by file, without the columns that the table is partitioned by."""
        self._begin(None)
        stored = [
            field
            for field in pa.schema(self._delta.schema().to_arrow())
            if field.name not in self._table.partition_by
        ]
        # Not deltalake's own dataset: it takes hundredths of a second for every file of the table.
        form = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        for path in self._open:
            place = f"{self._root}/{path}"
            file = ds.dataset(place, schema=pa.schema(stored), format=form, filesystem=self._files)
            yield from (pa.Table.from_batches([batch]) for batch in file.to_batches())

    def _begin(self, mark: Mark | None) -> None:
        self._delta.update_incremental()
        if mark is not None:
            self._refuse_foreign(mark.log_id)
        if self._version != self._delta.version():
            # The first time, or maintenance has been here.
            is_open = "is_open" in self._table.partition_by
            files = self._list_files() if is_open else []
            self._open = {f.path: f for f in files if f.partition["is_open"] == "true"}
            self._version = self._delta.version()

    def _commit(
        self,
        added: list[AddAction],
        removed: list[File],
        mark: Mark | None,
        undone: Iterable[str] = (),
    ) -> None:
        now_ms = time.time_ns() // 1_000_000
        removes = [RemoveAction(f.path, True, now_ms, f.size, f.partition) for f in removed]
        marks = [] if mark is None else [Transaction(mark.log_id, mark.seq)]
        marks += [Transaction(name, 0) for name in undone]
        try:
            self._delta.create_write_transaction(
                [*added, *removes],
                "append",
                self._delta.schema(),
                list(self._table.partition_by),
                # Nobody else writes: whatever came in between must not be passed over.
                commit_properties=CommitProperties(max_commit_retries=0, app_transactions=marks),
            )
        except CommitFailedError as error:
            raise LakeError(f"table {self._path} could not be written: {error}") from error
        if mark is not None:
            self._markers[mark.log_id] = mark.seq
        self._note(added, removed)

    def _note(self, added: list[AddAction], removed: list[File]) -> None:
        """The files of the open rows after our own commit, which is the next version."""
        for file in removed:
            self._open.pop(file.path, None)
        for action in added:
            if action.partition_values.get("is_open") == "true":
                self._open[action.path] = File(
                    action.path, action.size, dict(action.partition_values)
                )
        assert self._version is not None
        self._version += 1

    def _refuse_foreign(self, log_id: str) -> None:
        found = self._delta.transaction_version(log_id)
        if found != self._markers.get(log_id, found):
            raise LakeError(
                f"table {self._path} was written by somebody else meanwhile (up to seq {found}, "
                f"we to {self._markers[log_id]}): only one stream may fold a cluster into a lake"
            )

    def _list_files(self) -> list[File]:
        names = self._table.partition_by
        rows = pa.table(self._delta.get_add_actions(flatten=True)).to_pylist()
        return [
            File(
                row["path"],
                row["size_bytes"],
                {name: write_value(row[f"partition.{name}"]) for name in names},
            )
            for row in rows
        ]

    def _add(self, rows: pa.Table, name: str = "part") -> list[AddAction]:
        return self.store(make_files(self._table, rows, name))

    def store(self, files: Iterable[NewFile]) -> list[AddAction]:
        """Store files; nobody sees them before they are committed."""
        return [self._store(file) for file in files]

    def _store(self, file: NewFile) -> AddAction:
        place = f"{self._root}/{file.path}"
        self._files.create_dir(place.rpartition("/")[0])
        store_file(self._files, place, file.data)
        return AddAction(
            path=file.path,
            size=len(file.data),
            partition_values=file.partition,
            modification_time=time.time_ns() // 1_000_000,
            data_change=True,
            stats=file.stats,
        )


class Replacement:
    """All rows of a table, written piece by piece and committed at once."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer
        self._added: list[AddAction] = []
        self.rows = 0

    def add(self, rows: pa.Table) -> None:
        """Write some of the rows."""
        if rows.num_rows:
            self._added += self._writer._add(rows)
            self.rows += rows.num_rows

    def add_files(self, files: Sequence[NewFile]) -> None:
        """Store some of the rows, in files that were made elsewhere."""
        self._added += self._writer.store(files)
        self.rows += sum(file.count_rows() for file in files)

    def commit(self, mark: Mark, undone: Iterable[str] = ()) -> None:
        """Put them in the place of all that was there; `undone`: marks that no longer hold."""
        self._writer._begin(None)
        self._writer._commit(self._added, self._writer._list_files(), mark, undone)


def _find_files(path: str) -> tuple[pyarrow.fs.FileSystem, str]:
    if "://" in path:
        found: tuple[pyarrow.fs.FileSystem, str] = pyarrow.fs.FileSystem.from_uri(path)
        return found
    return pyarrow.fs.LocalFileSystem(), path
