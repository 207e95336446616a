"""Every file below a lake, looked into as a thief would: raw bytes, and Parquet decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from streaming.erasure.rows import find_rows
from streaming.erasure.secret_values import SecretValues
from streaming.lake.rewriting import open_directory


class FoundFile(NamedTuple):
    """A file that holds one of the values."""

    # Below the directory that was looked at.
    path: str
    # In how many rows; of a file without rows, 1.
    hits: int


def find_files(directory: str, secrets: SecretValues) -> Iterator[FoundFile]:
    """Those below a directory that hold one of the values."""
    files, root = open_directory(directory)
    chosen = pyarrow.fs.FileSelector(root, recursive=True, allow_not_found=True)
    for info in files.get_file_info(chosen):
        if info.type != pyarrow.fs.FileType.File:
            continue
        try:
            count = _count(files, info.path, secrets)
        except FileNotFoundError:
            continue  # gone meanwhile: a stream may run beside a dry run
        if count:
            yield FoundFile(info.path.removeprefix(root).lstrip("/"), count)


def _count(files: pyarrow.fs.FileSystem, path: str, secrets: SecretValues) -> int:
    with files.open_input_file(path) as file:
        raw = file.read()
    rows = 0
    if path.endswith(".parquet"):
        # Pages are packed, the footer with the smallest and largest values is not.
        try:
            rows = len(find_rows(pq.read_table(pa.BufferReader(raw)), secrets))
        except pa.ArrowInvalid:
            rows = 0  # no Parquet, whatever its name
    return rows or int(secrets.occur_in_bytes(raw))
