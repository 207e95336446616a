"""Questions from outside, answered by a process of their own: read, checked, bounded, stopped.

with run_query(lakes, sql, limits) as answer:
    for rows in answer: …
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

import msgspec

from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.lakes import Lake, is_remote
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

# The only variables it gets of ours: where libraries lie, and the keys of a remote lake.
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_STORES = ("AWS_", "AZURE_", "GOOGLE_")
# A message is a batch of rows and what frames it: never more than all that a query may take.
_FRAME_BYTES = 1 << 20
_NO_ANSWER = "the query's process sent what is no answer"
# Rust aborts when it gets no memory; the kernel kills, or the stack runs over.
_MEMORY_SIGNALS = (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS)


def run_query(
    lakes: Sequence[Lake],
    sql: str,
    limits: Limits,
    only: Mapping[str, str] | None = None,
    *,
    condition: str = "",
    cancellation: Cancellation | None = None,
) -> Answer:
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
        return Answer(process, question, cancellation or Cancellation())
    except BaseException:
        _stop(process)
        raise


class Answer:
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
        raise QueryError(said if message.kind == ERROR else self._say_memory())

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
        if -code in _MEMORY_SIGNALS:
            return self._say_memory()
        return f"the query's process ended by itself ({code}) before it had answered"

    def _say_memory(self) -> str:
        return (
            f"stopped: the query needs more memory than {self._limits.memory_bytes >> 20} MiB; "
            "narrow it down (a time range, a topic), or raise query.memory_bytes"
        )

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._cancellation.remove(self._process.kill)
        _stop(self._process)

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
    return subprocess.Popen(
        # -P: no module may be found in the directory somebody happens to stand in.
        [sys.executable, "-P", "-m", "delta_tables.asking.cell"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_choose_environment(lakes),
        start_new_session=True,  # Ctrl-C is ours to answer
    )


def _choose_environment(lakes: Sequence[Lake]) -> dict[str, str]:
    chosen = {name: os.environ[name] for name in _LIBRARIES if name in os.environ}
    if any(is_remote(lake.path) for lake in lakes):
        chosen |= {name: text for name, text in os.environ.items() if name.startswith(_STORES)}
    root = str(Path(__file__).parents[2])
    # Every arena takes address space, which is bounded: of malloc, and of Arrow's own allocator.
    return {
        **chosen,
        "PYTHONPATH": root,
        "RUST_BACKTRACE": "0",
        "MALLOC_ARENA_MAX": "2",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def _write(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # it is dead: reading tells how it ended
        pipe.write(data)
        pipe.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
