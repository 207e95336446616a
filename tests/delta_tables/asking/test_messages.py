"""Frames from a process that may have been taken over: values come out of them, or a refusal."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from delta_tables.asking import sandbox
from delta_tables.asking.messages import (
    COLUMNS,
    END,
    ROWS,
    pack_names,
    read_message,
    unpack_names,
    unpack_rows,
    write_message,
)
from delta_tables.asking.question import Limits
from zklake.errors import QueryError


def pack(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def make_wild() -> bytes:
    """A text that says it goes on far beyond its bytes."""
    data = pack(pa.record_batch([["a" * 77]], names=["a"]))
    # The last place: before it, Arrow's header tells the lengths of buffers.
    before, offsets, after = data.rpartition(struct.pack("<ii", 0, 77))
    assert offsets
    return before + struct.pack("<ii", 0, 1 << 30) + after


def frame(*messages: tuple[bytes, bytes]) -> bytes:
    written = io.BytesIO()
    for kind, data in messages:
        write_message(written, kind, data)
    return written.getvalue()


@contextmanager
def taken_over(monkeypatch: pytest.MonkeyPatch, said: bytes) -> Iterator[None]:
    code = f"import sys; sys.stdin.read(); sys.stdout.buffer.write({said!r})"

    def start(lakes: object) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe)

    monkeypatch.setattr(sandbox, "_start_cell", start)
    yield


def test_frames_come_back_as_they_were() -> None:
    pipe = io.BytesIO(frame((COLUMNS, pack_names(["a", "a b"])), (END, b"")))
    assert unpack_names(read_message(pipe, 10_000).data) == ["a", "a b"]
    assert read_message(pipe, 10_000) == (END, b"")
    with pytest.raises(EOFError):
        read_message(pipe, 10_000)


def test_a_frame_is_never_longer_than_an_answer_may_be() -> None:
    with pytest.raises(ValueError, match="a frame of"):
        read_message(io.BytesIO(struct.pack(">cQ", ROWS, 1 << 60)), 1 << 20)


def test_wild_arrow_is_refused_before_a_value_is_made() -> None:
    with pytest.raises(ValueError, match="Offset invariant failure"):
        unpack_rows(make_wild())


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('taken over')",)


@pytest.mark.parametrize(
    "said",
    [
        pickle.dumps(("names", Evil())),
        frame((COLUMNS, pickle.dumps(Evil()))),
        frame((COLUMNS, pack_names(["a"])), (ROWS, pickle.dumps(Evil()))),
        frame((COLUMNS, pack_names(["a"])), (ROWS, make_wild())),
        frame((COLUMNS, pack_names(["a"])), (b"?", b"")),
        frame((COLUMNS, pack_names(["a"]))) + struct.pack(">cQ", ROWS, 1 << 62),
        b"",
    ],
)
def test_whatever_it_sends_there_is_an_error_or_values(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    with (
        taken_over(monkeypatch, said),
        pytest.raises(QueryError),
        sandbox.run_query([], "SELECT 1", Limits()) as answer,
    ):
        list(answer)
