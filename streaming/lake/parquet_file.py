"""One Parquet file of a Delta table; a commit names it when it is stored whole."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from streaming.lake.file_stats import make_stats

# Numbers that grow by little pack best as differences: a tenth of the size, in a sixth of the time.
_RISING = "DELTA_BINARY_PACKED"


class Encoded(NamedTuple):
    """A file's bytes, and what Delta's log wants to know of them."""

    data: bytes
    stats: str


def encode_file(rows: pa.Table) -> Encoded:
    """The rows as a Parquet file."""
    # Not straight into a file: an Arrow writer that finds the disk full fails once more when it is
    # collected, at any time later.
    buffer, metadata = pa.BufferOutputStream(), list[pq.FileMetaData]()
    texts = [field.name for field in rows.schema if pa.types.is_string(field.type)]
    rising = {field.name: _RISING for field in rows.schema if _is_number(field.type)}
    pq.write_table(
        rows, buffer, use_dictionary=texts, column_encoding=rising, metadata_collector=metadata
    )
    return Encoded(buffer.getvalue().to_pybytes(), make_stats(metadata[0]))


def store_file(files: pyarrow.fs.FileSystem, place: str, data: bytes) -> None:
    """Write the bytes to that place."""
    # Arrow itself leaves a file open that it could not write to its end.
    with files.open_output_stream(place) as file:
        file.write(data)


def _is_number(type_: pa.DataType) -> bool:
    return pa.types.is_timestamp(type_) or type_ in (pa.int64(), pa.int32())
