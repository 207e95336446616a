"""The process in which a question from outside runs: `python -m delta_tables.asking.cell`.

Question on stdin, answer on stdout. Of our secrets it gets only the keys of a remote lake. It
cannot write to any file, and the kernel ends it when its time or memory is used up: DataFusion
holds the interpreter while it works, so nothing in Python could. Reading the text counts, too.
"""

from __future__ import annotations

import pickle
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
from deltalake import QueryBuilder

from delta_tables.asking.lakes import Lake
from delta_tables.asking.querying import check_condition, check_query
from delta_tables.asking.question import Limits, Question
from delta_tables.asking.refusals import explain_failure, hide_files, is_out_of_memory
from delta_tables.reading import KNOWN, build_engine, open_named, run_sql
from zklake.errors import LakeError, QueryError

Batch = tuple[list[str], list[Any]]


def main() -> None:
    """Read the question, answer it, end."""
    text = sys.stdin.buffer.read()
    if not text:  # who asked was gone before the question was written
        return
    question = msgspec.json.decode(text, type=Question)
    confine(question.limits)
    try:
        _answer(question)
    except (Exception, MemoryError) as error:
        _send(_describe(error, question))


def confine(limits: Limits) -> None:
    """Give up, for good, what a question does not need."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = _measure_address_space()
    if used:
        bound = used + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _measure_address_space() -> int:
    """Bytes mapped by now; 0 where that cannot be told, and then only DataFusion's bound holds."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _answer(question: Question) -> None:
    sent_rows = sent_bytes = 0
    limits = question.limits
    for names, columns in _run_timed(_run(question), limits.timeout_s):
        if sent_rows == sent_bytes == 0:
            sent_bytes += _send(("names", names))
        rows = list(zip(*columns, strict=True))[: limits.max_rows - sent_rows + 1]
        is_truncated = sent_rows + len(rows) > limits.max_rows
        rows = rows[: limits.max_rows - sent_rows]
        if rows:
            sent_bytes += _send(("rows", _make_plain(rows)))
        sent_rows += len(rows)
        if is_truncated or sent_bytes > limits.memory_bytes:
            return _end(is_truncated=True)
    return _end(is_truncated=False)


def _run(question: Question) -> Iterator[Batch]:
    if question.condition:
        check_condition(question.condition)
    checked = check_query(question.sql, KNOWN)
    tables = open_named(question.lakes, checked.names)
    engine = build_engine(tables, checked.sql, question.only)
    _bound(engine, question.limits)
    for names, columns in run_sql(engine, checked.sql):
        yield names, _hide_all(columns, question.lakes) if checked.is_plan else columns


def _hide_all(columns: list[Any], lakes: Sequence[Lake]) -> list[Any]:
    """The columns of a plan: texts."""
    return [[hide_files(value, _list_places(lakes)) for value in column] for column in columns]


def _list_places(lakes: Sequence[Lake]) -> set[str]:
    return {lake.path for lake in lakes if lake.path.strip("/.")}


def _bound(engine: QueryBuilder, limits: Limits) -> None:
    # Half for what DataFusion counts itself: that gives a sentence, where the kernel gives a crash.
    engine.execute(f"SET datafusion.runtime.memory_limit = '{limits.memory_bytes >> 21}M'")
    engine.execute("SET datafusion.runtime.max_temp_directory_size = '0'")


def _run_timed(batches: Iterator[Batch], left_s: float) -> Iterator[Batch]:
    """The batches; SIGALRM ends this process when making them takes longer, sending not counted."""
    while True:
        started = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, max(left_s, 0.001))
        batch = next(batches, None)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if batch is None:
            return
        left_s -= time.monotonic() - started
        yield batch


def _make_plain(value: Any) -> Any:
    """The same without zone objects: only offsets travel."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        offset = value.utcoffset()
        return value.astimezone(timezone(offset) if offset else UTC)
    if isinstance(value, list | tuple):
        return type(value)(map(_make_plain, value))
    if isinstance(value, dict):
        return {key: _make_plain(inner) for key, inner in value.items()}
    return value


def _describe(error: BaseException, question: Question) -> tuple[str, str]:
    text = str(error)
    if isinstance(error, MemoryError) or is_out_of_memory(text):
        return "memory", ""
    if isinstance(error, LakeError | QueryError):
        return "error", text
    return "error", hide_files(explain_failure(text, question.sql), _list_places(question.lakes))


def _end(*, is_truncated: bool) -> None:
    _send(("end", is_truncated))


def _send(message: tuple[str, Any]) -> int:
    data = pickle.dumps(message)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return len(data)


if __name__ == "__main__":
    main()
