"""Rows of a table written anew where they lie, in files of the same place.

No change of data by Delta's word: nobody who follows the table shall take them for new rows, and a
table that is only appended to allows no other.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from delta_tables.table import Table
from streaming.lake.new_files import write_value
from streaming.lake.parquet_file import encode_file, store_file
from zklake.errors import LakeError

# The end of a file's name: what stands before it says which shard it is.
_UNIQUE = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[^/]*$")

# A file's rows as they shall be, in their order, and how many of them are others than before.
Edit = Callable[[pa.Table], tuple[pa.Table, int]]


class LiveFile:
    """A file of the table's newest version."""

    def __init__(self, delta: DeltaTable, table: Table, row: Mapping[str, Any]) -> None:
        self.path, self.size = str(row["path"]), int(row["size_bytes"])
        self.modified_at = int(row["modification_time"])
        # Of the column that the log is ordered by; None: the file does not say.
        self.seqs = row.get("min.seq"), row.get("max.seq")
        self.partition = {
            name: write_value(row[f"partition.{name}"]) for name in table.partition_by
        }
        self._schema = pa.schema(
            field
            for field in pa.schema(delta.schema().to_arrow())
            if field.name not in table.partition_by
        )

    def read(self, files: pyarrow.fs.FileSystem, root: str) -> pa.Table:
        """Its rows, without the columns that the table is partitioned by."""
        form = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        place = f"{root}/{self.path}"
        stored = ds.dataset(place, schema=self._schema, format=form, filesystem=files)
        # In this thread: a command that ended right after it was once ended by Arrow's (SIGABRT).
        return stored.to_table(use_threads=False)

    def rename(self) -> str:
        """Where its rows go."""
        return _UNIQUE.sub("", self.path.removesuffix(".parquet")) + f"-{uuid.uuid4()}.parquet"


def list_files(delta: DeltaTable, table: Table) -> Iterator[LiveFile]:
    """The files of the table as it is now."""
    for row in pa.table(delta.get_add_actions(flatten=True)).to_pylist():
        yield LiveFile(delta, table, row)


def rewrite(
    delta: DeltaTable,
    table: Table,
    edit: Edit,
    *,
    announce: Callable[[], None] = lambda: None,
    choose: Callable[[LiveFile], bool] = lambda file: True,
    marks: Sequence[Transaction] = (),
) -> int:
    """Edit the rows of these files, in one commit that is announced before; how many it changed."""
    files, root = open_directory(delta.table_uri)
    actions: list[AddAction | RemoveAction] = []
    changed = 0
    now_ms = time.time_ns() // 1_000_000
    for file in filter(choose, list_files(delta, table)):
        rows, count = edit(file.read(files, root))
        if not count:
            continue
        changed += count
        written, path = encode_file(rows), file.rename()
        store_file(files, f"{root}/{path}", written.data)
        actions += [
            AddAction(
                path, len(written.data), file.partition, file.modified_at, False, written.stats
            ),
            RemoveAction(file.path, False, now_ms, file.size, file.partition),
        ]
    if actions:
        announce()
        _commit(delta, table, actions, marks)
    return changed


def put_rows(rows: pa.Table, places: Sequence[int], others: pa.Table) -> pa.Table:
    """The rows, with others in these places."""
    order = [*range(rows.num_rows)]
    for number, place in enumerate(places):
        order[place] = rows.num_rows + number
    return pa.concat_tables([rows, others]).take(pa.array(order, pa.int64()))


def open_directory(directory: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """The file system that a directory is on, and its path there."""
    if "://" in directory:
        found: tuple[pyarrow.fs.FileSystem, str] = pyarrow.fs.FileSystem.from_uri(directory)
        return found
    return pyarrow.fs.LocalFileSystem(), directory


def _commit(
    delta: DeltaTable,
    table: Table,
    actions: list[AddAction | RemoveAction],
    marks: Sequence[Transaction],
) -> None:
    try:
        delta.create_write_transaction(
            actions,
            "append",
            delta.schema(),
            list(table.partition_by),
            commit_properties=CommitProperties(max_commit_retries=0, app_transactions=[*marks]),
        )
    except CommitFailedError as error:
        raise LakeError(f"table {delta.table_uri} could not be written: {error}") from error
