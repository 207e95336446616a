"""Some files of a large date become one, sorted by key: a step that is bounded whatever the date.

deltalake's own optimize takes a partition whole, which keeps the next batch waiting for a minute
where files lie by the thousand.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
from deltalake import DeltaTable, PostCommitHookProperties
from deltalake.transaction import AddAction, RemoveAction

from delta_tables.table import Table
from streaming.lake.parquet_file import encode_file, store_file

# A step takes at most so many files, and so many bytes of them: a few seconds, of any table.
STEP_FILES = 500
STEP_BYTES = 16 << 20

File = Mapping[str, Any]


def gather(
    delta: DeltaTable, table: Table, partition: Mapping[str, str], hooks: PostCommitHookProperties
) -> tuple[int, int]:
    """Do it in one partition, in one commit; returns how many files became how many."""
    chosen = choose_files(_list_files(delta, partition))
    if len(chosen) < 2:
        return 0, 0
    files, root = pyarrow.fs.FileSystem.from_uri(delta.table_uri)
    rows = _read(delta, table, files, [f"{root}/{file['path']}" for file in chosen])
    path = "/".join([*(f"{n}={v}" for n, v in partition.items()), f"part-{uuid.uuid4()}.parquet"])
    written = encode_file(rows)
    store_file(files, f"{root}/{path}", written.data)
    add = AddAction(
        path=path,
        size=len(written.data),
        partition_values=dict(partition),
        # As old as the youngest of them: it stands in their place.
        modification_time=max(each["modification_time"] for each in chosen),
        data_change=False,
        stats=written.stats,
    )
    now_ms = time.time_ns() // 1_000_000
    removes = [
        RemoveAction(file["path"], False, now_ms, file["size_bytes"], dict(partition))
        for file in chosen
    ]
    delta.create_write_transaction(
        [add, *removes],
        "append",
        delta.schema(),
        list(table.partition_by),
        post_commithook_properties=hooks,
    )
    return len(chosen), 1


def choose_files(files: Iterable[File]) -> list[File]:
    """The oldest that are not large yet, as many as a step may take.

    In the order of the log, so that what is near in time stays near. Two small ones always fit into
    a step: in the end all but one are large.
    """
    small = sorted(
        (file for file in files if file["size_bytes"] <= STEP_BYTES // 2),
        key=lambda file: file["modification_time"],
    )
    # While most are as a batch left them, what steps made of others waits: else each step would
    # read again what the one before it wrote.
    left = [file for file in small if file["size_bytes"] <= STEP_BYTES // STEP_FILES]
    if len(left) > len(small) // 2:
        small = left
    chosen: list[File] = []
    size = 0
    for file in small[:STEP_FILES]:
        size += file["size_bytes"]
        if size > STEP_BYTES:
            break
        chosen.append(file)
    return chosen


def _list_files(delta: DeltaTable, partition: Mapping[str, str]) -> list[File]:
    files = pa.table(delta.get_add_actions(flatten=True))
    for name, value in partition.items():
        column = files[f"partition.{name}"].to_pylist()
        files = files.filter(pa.array([_spell(found) == value for found in column]))
    names = ("path", "size_bytes", "modification_time")
    rows: list[File] = files.select(names).to_pylist()
    return rows


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(
    delta: DeltaTable, table: Table, files: pyarrow.fs.FileSystem, paths: Sequence[str]
) -> pa.Table:
    """Their rows in the order of the key; a partition's values stand in no file."""
    schema = pa.schema(
        field for field in pa.schema(delta.schema().to_arrow()) if field.name in _stored(table)
    )
    # Not deltalake's own dataset: it takes hundredths of a second for every file of the table.
    form = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
    rows = ds.dataset(list(paths), schema=schema, format=form, filesystem=files).to_table()
    return rows.sort_by([(name, "ascending") for name in table.key if name != "cluster"])


def _stored(table: Table) -> set[str]:
    return {name for name in table.names if name not in table.partition_by}
