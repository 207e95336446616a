from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.fs
import pytest

from streaming.lake.parquet_file import encode_file, store_file

ROOM = 100_000


@pytest.fixture
def little_room() -> Iterator[None]:
    """No file may grow beyond that: like a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_once(
    tmp_path: Path, little_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    later: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)
    files, rows = pyarrow.fs.LocalFileSystem(), pa.table({"value": [os.urandom(2 * ROOM)]})
    with pytest.raises(OSError, match="File too large"):
        store_file(files, str(tmp_path / "a"), encode_file(rows).data)
    gc.collect()
    assert later == []
    empty = encode_file(rows.slice(0, 0)).data
    store_file(files, str(tmp_path / "b"), empty)
    assert (tmp_path / "b").read_bytes() == empty
