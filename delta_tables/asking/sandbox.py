"""Questions from outside, answered by a process of their own: read, checked, bounded, stopped.

with run_query(lakes, sql, limits) as answer:
    for rows in answer: …
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Self, TypeVar

import msgspec

from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.child_process import MEMORY_SIGNALS, start_child, stop_child
from delta_tables.asking.lakes import Lake
from delta_tables.asking.messages import (
    COLUMNS,
    CUT,
    END,
    ERROR,
    ROWS,
    Message,
    Row,
    read_message,
    unpack_names,
    unpack_rows,
)
from delta_tables.asking.question import Limits, Question
from zklake.errors import QueryCancelled, QueryError

T = TypeVar("T")

# A message is a batch of rows and what frames it: never more than all that a query may take.
_FRAME_BYTES = 1 << 20
_NO_ANSWER = "the query's process sent what is no answer"


def run_query(
    lakes: Sequence[Lake],
    sql: str,
    limits: Limits,
    only: Mapping[str, str] | None = None,
    *,
    condition: str = "",
    cancellation: Cancellation | None = None,
) -> QueryAnswer:
    """Start a query; QueryError says why it may not run, or how it failed.

    `only`, which is trusted, are conditions by table: neither the query nor views see other rows.
    `condition` is the part of the query that somebody wrote where one condition was wanted.
    `cancellation` stops it from another thread, with QueryCancelled.
    """
    question = Question(
        lakes=list(lakes), sql=sql, limits=limits, condition=condition, only=dict(only or {})
    )
    process = _start_cell(lakes)
    try:
        return QueryAnswer(process, question, cancellation or Cancellation())
    except BaseException:
        stop_child(process)
        raise


class QueryAnswer:
    """The rows of a question, in batches as they come; left by `with`, its process is gone."""

    def __init__(
        self, process: subprocess.Popen[bytes], question: Question, cancellation: Cancellation
    ) -> None:
        self._process, self._limits = process, question.limits
        self._cancellation = cancellation
        self.is_truncated = False
        cancellation.add(process.kill)
        assert process.stdin is not None
        _write(process.stdin, msgspec.json.encode(question))
        self.names = self._unpack(unpack_names, self._receive(COLUMNS).data)

    def __iter__(self) -> Iterator[list[Row]]:
        while (message := self._receive(ROWS, END, CUT)).kind == ROWS:
            yield self._unpack(unpack_rows, message.data)
        self.is_truncated = message.kind == CUT
        self.close()

    def _receive(self, *wanted: bytes) -> Message:
        assert self._process.stdout is not None
        try:
            most_bytes = self._limits.memory_bytes + _FRAME_BYTES
            message = read_message(self._process.stdout, most_bytes)
        except EOFError as error:
            raise QueryError(self._explain_end()) from error
        except ValueError as error:
            self.close()
            raise QueryError(_NO_ANSWER) from error
        if message.kind in wanted:
            return message
        self.close()
        said = message.data.decode(errors="replace")
        raise QueryError(said if message.kind == ERROR else self._format_memory())

    def _unpack(self, unpack: Callable[[bytes], T], data: bytes) -> T:
        try:
            return unpack(data)
        except Exception as error:  # whatever Arrow says of bytes that are none
            self.close()
            raise QueryError(_NO_ANSWER) from error

    def _explain_end(self) -> str:
        code = self._process.wait()
        self.close()
        if self._cancellation.is_cancelled:
            raise QueryCancelled("nobody waits for the answer any more")
        if code == -signal.SIGALRM:
            return (
                f"stopped: the query took longer than {self._limits.timeout_s:g} s; narrow it down "
                "(a time range, a topic), or raise --timeout (query.timeout_s)"
            )
        if -code in MEMORY_SIGNALS:
            return self._format_memory()
        return f"the query's process ended by itself ({code}) before it had answered"

    def _format_memory(self) -> str:
        return (
            f"stopped: the query needs more memory than {self._limits.memory_bytes >> 20} MiB; "
            "narrow it down (a time range, a topic), or raise query.memory_bytes"
        )

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._cancellation.remove(self._process.kill)
        stop_child(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _start_cell(lakes: Sequence[Lake]) -> subprocess.Popen[bytes]:
    return start_child("delta_tables.asking.cell", lakes, stdout=subprocess.PIPE)


def _write(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # it is dead: reading shows how it ended
        pipe.write(data)
        pipe.close()
