"""The process in which a question from outside runs: `python -m delta_tables.asking.cell`.

Question on stdin, answer on stdout. Of our secrets it gets only the keys of a remote lake. It
cannot write to any file, and the kernel ends it when its time or memory is used up: DataFusion
holds the interpreter while it works, so nothing in Python could. Reading the text counts, too.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from arro3.core import Array, DataType, RecordBatch

from delta_tables.asking.confinement import confine
from delta_tables.asking.lakes import Lake
from delta_tables.asking.messages import (
    COLUMNS,
    CUT,
    END,
    ERROR,
    MEMORY,
    ROWS,
    pack_names,
    pack_rows,
    write_message,
)
from delta_tables.asking.querying import check_condition, check_query
from delta_tables.asking.question import Question
from delta_tables.asking.refusals import explain_failure, hide_files, is_out_of_memory
from delta_tables.reading import KNOWN, bound_memory, build_engine, open_named
from zklake.errors import LakeError, QueryError


def main() -> None:
    """Read the question, answer it, end."""
    text = sys.stdin.buffer.read()
    if not text:  # who asked was gone before the question was written
        return
    question = msgspec.json.decode(text, type=Question)
    confine(question.limits.memory_bytes)
    try:
        _answer(question)
    except (Exception, MemoryError) as error:
        _send(*_describe(error, question))


def _answer(question: Question) -> None:
    """Send the columns, as many rows as may be, and whether there were more."""
    limits = question.limits
    sent_rows = sent_bytes = 0
    batches = _run_timed(_run(question), limits.timeout_s)
    names = next(batches)
    sent_bytes += _send(COLUMNS, pack_names(names))
    for batch in batches:
        left = limits.max_rows - sent_rows
        rows = batch.slice(0, min(left, batch.num_rows))
        if rows.num_rows:
            sent_bytes += _send(ROWS, pack_rows(rows))
        sent_rows += rows.num_rows
        if batch.num_rows > left or sent_bytes > limits.memory_bytes:
            _send(CUT)
            return
    _send(END)


def _run(question: Question) -> Iterator[Any]:
    """The names of the columns, then the batches."""
    if question.condition:
        check_condition(question.condition)
    checked = check_query(question.sql, KNOWN)
    tables = open_named(question.lakes, checked.names)
    engine = build_engine(tables, checked.sql, question.only)
    # Half for what DataFusion counts itself: that gives a sentence, where the kernel gives a crash.
    bound_memory(engine, question.limits.memory_bytes // 2)
    reader = engine.execute(checked.sql)
    yield reader.schema.names
    for batch in reader:
        yield _hide_all(batch, question.lakes) if checked.is_plan else batch


def _hide_all(plan: RecordBatch, lakes: Sequence[Lake]) -> RecordBatch:
    """A plan without paths: all its columns are texts."""
    places = _list_places(lakes)
    hidden = [
        Array([hide_files(value, places) for value in column.to_pylist()], DataType.utf8())
        for column in plan.columns
    ]
    return RecordBatch.from_arrays(hidden, names=plan.schema.names)


def _list_places(lakes: Sequence[Lake]) -> set[str]:
    return {lake.path for lake in lakes if lake.path.strip("/.")}


def _run_timed(batches: Iterator[Any], left_s: float) -> Iterator[Any]:
    """The same; SIGALRM ends this process when making them takes longer, sending not counted."""
    while True:
        started = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, max(left_s, 0.001))
        batch = next(batches, None)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if batch is None:
            return
        left_s -= time.monotonic() - started
        yield batch


def _describe(error: BaseException, question: Question) -> tuple[bytes, bytes]:
    text = str(error)
    if isinstance(error, MemoryError) or is_out_of_memory(text):
        return MEMORY, b""
    if not isinstance(error, LakeError | QueryError):
        text = hide_files(explain_failure(text, question.sql), _list_places(question.lakes))
    return ERROR, text.encode(errors="replace")


def _send(kind: bytes, data: bytes = b"") -> int:
    return write_message(sys.stdout.buffer, kind, data)


if __name__ == "__main__":
    main()
