"""One Delta table without the values: live files written anew, everything older removed."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, CommitProperties, RemoveAction

from delta_tables.table import Table
from streaming.erasure.files import open_directory
from streaming.erasure.rows import find_rows, mask_rows
from streaming.erasure.secret_values import SecretValues
from streaming.lake.new_files import write_value
from streaming.lake.parquet_file import encode_file, store_file
from zklake.errors import LakeError

# The end of a file's name: what stands before it says which shard it is.
_UNIQUE = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[^/]*$")
_VERSION = re.compile(r"(\d{20})\.")


class _LiveFile:
    """A file of the table's newest version."""

    def __init__(self, delta: DeltaTable, table: Table, row: dict[str, object]) -> None:
        self.path, self.size = str(row["path"]), int(str(row["size_bytes"]))
        self.modified_at = int(str(row["modification_time"]))
        self.partition = {
            name: write_value(row[f"partition.{name}"]) for name in table.partition_by
        }
        self._schema = pa.schema(
            field
            for field in pa.schema(delta.schema().to_arrow())
            if field.name not in table.partition_by
        )

    def read(self, files: pyarrow.fs.FileSystem, root: str) -> pa.Table:
        form = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        place = f"{root}/{self.path}"
        stored = ds.dataset(place, schema=self._schema, format=form, filesystem=files)
        # In this thread: a command that ended right after it was once ended by Arrow's (SIGABRT).
        return stored.to_table(use_threads=False)

    def rename(self) -> str:
        return _UNIQUE.sub("", self.path.removesuffix(".parquet")) + f"-{uuid.uuid4()}.parquet"


def count_rows(delta: DeltaTable, table: Table, secrets: SecretValues) -> int:
    """How many rows of the table as it is now hold one of the values."""
    files, root = open_directory(delta.table_uri)
    return sum(
        len(find_rows(file.read(files, root), secrets)) for file in _list_files(delta, table)
    )


def mask_table(
    delta: DeltaTable, table: Table, secrets: SecretValues, announce: Callable[[], None]
) -> int:
    """Mask them, in one commit that is announced before; returns how many rows held one."""
    files, root = open_directory(delta.table_uri)
    actions: list[AddAction | RemoveAction] = []
    masked = 0
    now_ms = time.time_ns() // 1_000_000
    for file in _list_files(delta, table):
        rows, count = mask_rows(file.read(files, root), table.name, secrets)
        if not count:
            continue
        masked += count
        written, path = encode_file(rows), file.rename()
        store_file(files, f"{root}/{path}", written.data)
        # No change of data: nobody who follows the table shall take these rows for new ones, and a
        # table that is only appended to allows no other.
        actions += [
            AddAction(
                path, len(written.data), file.partition, file.modified_at, False, written.stats
            ),
            RemoveAction(file.path, False, now_ms, file.size, file.partition),
        ]
    if actions:
        announce()
        _commit(delta, table, actions)
    return masked


def forget_past(delta: DeltaTable) -> int:
    """Remove every file and every version but the newest; returns how many files went."""
    gone = delta.vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    delta.update_incremental()
    delta.create_checkpoint()
    files, root = open_directory(delta.table_uri)
    log = pyarrow.fs.FileSelector(f"{root}/_delta_log", recursive=True)
    removed, last = len(gone), delta.version()
    for info in files.get_file_info(log):
        found = _VERSION.match(info.base_name)
        # The newest commit is ours, and the checkpoint holds all that it builds on.
        if found is not None and int(found[1]) < last:
            files.delete_file(info.path)
            removed += 1
    return removed


def _commit(delta: DeltaTable, table: Table, actions: list[AddAction | RemoveAction]) -> None:
    try:
        delta.create_write_transaction(
            actions,
            "append",
            delta.schema(),
            list(table.partition_by),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except CommitFailedError as error:
        raise LakeError(f"table {delta.table_uri} could not be written: {error}") from error


def _list_files(delta: DeltaTable, table: Table) -> Iterator[_LiveFile]:
    for row in pa.table(delta.get_add_actions(flatten=True)).to_pylist():
        yield _LiveFile(delta, table, row)
