"""What the process that answers says to the one that asked: frames, and in them rows as Arrow IPC.

Who reads trusts nothing: a process that was taken over could write anything. Of Arrow only values
can be made, and it is validated before any of them is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from arro3.core import DataType, RecordBatch

from delta_tables.values import read_column
from zklake.pipes import Readable, read_exactly

Row = tuple[Any, ...]

# The columns (without rows) come first, then rows, and then how it ended.
COLUMNS, ROWS, END, CUT, ERROR, MEMORY = b"C", b"R", b"E", b"T", b"X", b"M"
# Of the process that holds tables: an answer that is no rows, and a version that is no more.
SAID, GONE = b"S", b"G"
_HEAD = struct.Struct(">cQ")
# Views carry the whole buffers that they look into, once per batch; intervals have no value.
_PLAIN: tuple[tuple[Callable[[DataType], bool], DataType], ...] = (
    (DataType.is_string_view, DataType.utf8()),
    (DataType.is_binary_view, DataType.binary()),
    (DataType.is_interval, DataType.utf8()),
)


class Writable(Protocol):
    """Where frames go to."""

    def write(self, data: bytes, /) -> int:
        """Write."""

    def flush(self) -> None:
        """Send what was written."""


class Message(NamedTuple):
    """One frame."""

    kind: bytes
    data: bytes


def write_message(pipe: Writable, kind: bytes, data: bytes = b"") -> int:
    """Write a frame; how long it was."""
    pipe.write(_HEAD.pack(kind, len(data)) + data)
    pipe.flush()
    return _HEAD.size + len(data)


def read_message(pipe: Readable, most_bytes: int) -> Message:
    """The next frame; EOFError when it is not whole, ValueError when nobody may say so much."""
    kind, length = _HEAD.unpack(read_exactly(pipe, _HEAD.size))
    if length > most_bytes:
        raise ValueError(f"a frame of {length} bytes")
    return Message(kind, read_exactly(pipe, length))


def pack_names(names: Sequence[str]) -> bytes:
    """The columns of an answer."""
    return _pack(pa.schema([pa.field(name, pa.null()) for name in names]))


def pack_rows(batch: RecordBatch) -> bytes:
    """Rows, with everything that is needed to read them."""
    columns = [pa.array(_make_plain(column, column.type)) for column in batch.columns]
    plain = pa.record_batch(columns, names=batch.schema.names)
    return _pack(plain.schema, plain)


def _make_plain(column: Any, type_: DataType) -> Any:
    wanted = next((plain for is_such, plain in _PLAIN if is_such(type_)), None)
    return column if wanted is None else column.cast(wanted)


def _pack(schema: Any, *batches: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack_names(data: bytes) -> list[str]:
    """The columns; ValueError when the data is not such."""
    with pa.ipc.open_stream(data) as reader:
        names: list[str] = reader.schema.names
    return names


def unpack_rows(data: bytes) -> list[Row]:
    """The rows; ValueError when the data is not such."""
    rows: list[Row] = []
    with pa.ipc.open_stream(data) as reader:
        for batch in reader:
            batch.validate(full=True)
            checked = RecordBatch.from_arrow(batch)
            columns = [read_column(column, column.type) for column in checked.columns]
            rows.extend(zip(*columns, strict=True))
    return rows
