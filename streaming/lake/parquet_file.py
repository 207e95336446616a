"""One Parquet file of a Delta table, written by the driver; a commit names it when it is whole."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from streaming.lake.file_stats import make_stats


class Written(NamedTuple):
    """What Delta's log wants to know of a file."""

    size: int
    stats: str


def write_file(files: pyarrow.fs.FileSystem, place: str, rows: pa.Table) -> Written:
    """Write the rows to that place."""
    # Not straight into the file: an Arrow writer that finds the disk full fails once more when it
    # is collected, at any time later.
    buffer, metadata = pa.BufferOutputStream(), list[pq.FileMetaData]()
    pq.write_table(rows, buffer, metadata_collector=metadata)
    data = buffer.getvalue()
    # Arrow itself leaves a file open that it could not write to its end.
    with files.open_output_stream(place) as file:
        file.write(data)
    return Written(data.size, make_stats(metadata[0]))
