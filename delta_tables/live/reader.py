"""A lake's tables, held by a process beside this one: whatever a query does, we go on.

Each question has a socket of its own. A process that died or does not move is replaced by the next
question; who asked it gets a LakeError, and never waits for ever.
"""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.child_process import MEMORY_SIGNALS, start_child, stop_child
from delta_tables.asking.lakes import Lake
from delta_tables.asking.messages import (
    COLUMNS,
    END,
    ERROR,
    GONE,
    MEMORY,
    ROWS,
    SAID,
    Message,
    read_message,
    unpack_names,
    unpack_rows,
    write_message,
)
from delta_tables.asking.question import Limits
from delta_tables.live.questions import ASKED, READY, ListFiles, Look, Question, Run
from delta_tables.live.snapshot import Asking, Row, Snapshot, SnapshotGone, State
from zklake.errors import LakeError, QueryCancelled, QueryError

T = TypeVar("T")

# A frame is a batch of rows.
_FRAME_BYTES = 1 << 30
# How long a query whose client has left may go on before its process is ended for it.
_GRACE_S = 3.0
# How long it may take to start, and to open all tables for the first time.
_START_S = 60.0
_END_S = 5.0
_LOOK_AGAIN_MS = 100
_TRIES = 3


class _Replaced(Exception):
    """The process was ended because of another question: this one can be asked again."""


class Reader:
    """The source of `Tables` in another process; it starts with the first question."""

    def __init__(self, lake: str, cluster: str, limits: Limits) -> None:
        self._lake, self._limits = Lake(lake, cluster), limits
        self._lock = threading.Lock()
        self._process: _Process | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        process = self._process
        return None if process is None else process.pid

    def look(self, *, anew: bool = False) -> Snapshot:
        """The newest versions that belong together."""
        return msgspec.json.decode(self._say(Look(anew)), type=Snapshot)

    def list_files(self, name: str, state: State) -> dict[str, list[Any]]:
        """What Delta's log says of a table's files, by column."""
        return msgspec.json.decode(self._say(ListFiles(name, state)), type=dict[str, list[Any]])

    def ask(self, asking: Asking, cancellation: Cancellation) -> list[Row]:
        """Rows."""
        return self._converse(Run(asking), cancellation, _receive_rows)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.end()

    def _say(self, question: Question) -> bytes:
        return self._converse(question, Cancellation(), lambda line: line.receive(SAID).data)

    def _converse(
        self, question: Question, cancellation: Cancellation, take: Callable[[_Line], T]
    ) -> T:
        for _ in range(_TRIES):
            process = self._find_process()
            with contextlib.suppress(_Replaced), process.call(question, cancellation) as line:
                return take(line)
        raise LakeError("the lake's reader was replaced again and again: try again in a moment")

    def _find_process(self) -> _Process:
        with self._lock:
            if self._process is None or self._process.is_over:
                if self._process is not None:
                    self._process.end()
                self._process = _Process(self._lake, self._limits)
            return self._process


class _Process:
    """One process, until it ends."""

    def __init__(self, lake: Lake, limits: Limits) -> None:
        self._limits = limits
        ours, its = socket.socketpair()
        with its:
            memory = str(limits.memory_bytes)
            self._child = start_child(
                "delta_tables.live.reader_process", [lake], *lake, memory, stdin=its.fileno()
            )
        self._control = ours
        self._is_replaced = self._has_answered = False
        self.end = weakref.finalize(self, _end, self._child, ours)
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        self._control.settimeout(_START_S)
        try:
            said = self._control.recv(1)
        except TimeoutError:
            said = b""
        self._control.settimeout(None)
        if said != READY:
            self.end()
            raise LakeError("the process that reads the lake does not start: try again")

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_over(self) -> bool:
        return self._is_replaced or self._child.poll() is not None

    @contextmanager
    def call(self, question: Question, cancellation: Cancellation) -> Iterator[_Line]:
        """A line with that question on it."""
        ours, its = socket.socketpair()
        timeout_s = self._limits.timeout_s
        if not self._has_answered:
            timeout_s = max(timeout_s, _START_S)
        with ours:
            line = _Line(self, ours, cancellation, timeout_s)
            with its, contextlib.suppress(OSError):  # it is dead: reading shows how it ended
                socket.send_fds(self._control, [b"?"], [its.fileno()])
            with cancellation.stopping(line.hang_up):
                line.send(msgspec.json.encode(question))
                yield line
                self._has_answered = True

    def replace(self) -> None:
        """It is not fit for use: end it; what others ask of it is asked of the next one."""
        self._is_replaced = True
        self._child.kill()

    def explain_end(self) -> Exception:
        """Why a line has gone dead."""
        if self._is_replaced:
            return _Replaced()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(_END_S)
        code = self._child.poll()
        if code is not None and -code in MEMORY_SIGNALS:
            how = f"was ended by {signal.Signals(-code).name}, maybe for want of memory"
        else:
            how = f"has ended by itself ({code})"
        return LakeError(f"the process that reads the lake {how}: it starts anew, try again")


class _Line:
    """A socket to the process, for one question."""

    def __init__(
        self, process: _Process, ours: socket.socket, cancellation: Cancellation, timeout_s: float
    ) -> None:
        self._process, self._socket, self._cancellation = process, ours, cancellation
        self._timeout_s = timeout_s
        self._began_at = time.monotonic()
        self._left_at: float | None = None
        self._poll = select.poll()
        self._poll.register(ours, select.POLLIN)

    def send(self, text: bytes) -> None:
        with contextlib.suppress(OSError), self._socket.makefile("wb") as pipe:
            write_message(pipe, ASKED, text)

    def hang_up(self) -> None:
        """Nobody waits any more: what is asked ends at its next batch."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def receive(self, *wanted: bytes) -> Message:
        """The next frame, of such a kind."""
        try:
            message = read_message(self, _FRAME_BYTES)
        except (EOFError, ConnectionError) as error:
            if self._cancellation.is_cancelled:
                raise _cancelled() from error
            raise self._process.explain_end() from error
        if message.kind in wanted:
            return message
        said = message.data.decode(errors="replace")
        match message.kind:
            case kind if kind == GONE:
                raise SnapshotGone(said)
            case kind if kind == MEMORY:
                raise LakeError("that needs more memory than query.memory_bytes allows")
            case kind if kind == ERROR:
                raise QueryError(said)
        raise LakeError("the process that reads the lake sent what is no answer")

    def read(self, length: int, /) -> bytes:
        """So many bytes, or fewer at the end."""
        read = bytearray()
        while len(read) < length:
            self._wait()
            some = self._socket.recv(length - len(read))
            if not some:
                break
            read += some
        return bytes(read)

    def _wait(self) -> None:
        while not self._poll.poll(_LOOK_AGAIN_MS):
            now = time.monotonic()
            if self._cancellation.is_cancelled:
                self._left_at = self._left_at or now
                if now - self._left_at > _GRACE_S:
                    self._process.replace()
                    raise _cancelled()
            elif now - self._began_at > self._timeout_s:
                self._process.replace()
                raise LakeError(
                    f"the lake did not answer within {self._timeout_s:g} s: choose a shorter time "
                    "range, or raise query.timeout_s"
                )


def _receive_rows(line: _Line) -> list[Row]:
    names = unpack_names(line.receive(COLUMNS).data)
    rows: list[Row] = []
    while (message := line.receive(ROWS, END)).kind == ROWS:
        rows += (dict(zip(names, row, strict=True)) for row in unpack_rows(message.data))
    return rows


def _cancelled() -> QueryCancelled:
    return QueryCancelled("nobody waits for the answer any more")


def _end(child: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    stop_child(child)
