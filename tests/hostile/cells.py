"""Many queries in the sandbox's process, one after the other: `python -m tests.hostile.cells`.

Each runs in a process of its own, by the sandbox's own code and within its limits; it is forked
from this one instead of started, which saves the half second that Python needs to load it all.
Questions on stdin, one JSON text per line; on stdout how the process ended and what it said.
"""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from delta_tables.asking.messages import COLUMNS, ERROR, MEMORY, ROWS, read_message, unpack_rows
from delta_tables.asking.question import Question


class Ending(NamedTuple):
    """How a query ended: the process's exit code (negative: a signal), and what it sent."""

    code: int
    sent: bytes

    @property
    def kinds(self) -> list[bytes]:
        return [message.kind for message in self._read()]

    @property
    def refusal(self) -> str | None:
        """What it says instead of an answer."""
        said = [one for one in self._read() if one.kind in (ERROR, MEMORY)]
        return said[0].data.decode() or "out of memory" if said else None

    @property
    def text(self) -> str:
        """Everything in it that somebody could read."""
        rows = [str(unpack_rows(one.data)) for one in self._read() if one.kind == ROWS]
        named = [one.data.decode(errors="replace") for one in self._read() if one.kind == COLUMNS]
        return "\n".join([*rows, *named, self.refusal or ""])

    def _read(self) -> list:  # type: ignore[type-arg]
        stream, found = io.BytesIO(self.sent), []
        while stream.tell() < len(self.sent):
            try:
                found.append(read_message(stream, 1 << 30))
            except EOFError:  # it was stopped in the middle of a message
                break
        return found


class Cells:
    """The process that forks; for one test at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, question: Question) -> Ending:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(question) + b"\n")
        self._process.stdin.flush()
        ended = json.loads(self._process.stdout.readline())
        return Ending(ended["code"], base64.b64decode(ended["sent"]))


@contextmanager
def open_cells(environ: dict[str, str]) -> Iterator[Cells]:
    """With the sandbox's own environment."""
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.hostile.cells"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**environ, "PYTHONPATH": root},
        cwd=root,
    )
    try:
        yield Cells(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


def serve() -> None:
    """Answer until there are no more questions."""
    from delta_tables.asking import cell

    for line in sys.stdin.buffer:
        asked, asking = os.pipe()
        heard, saying = os.pipe()
        child = os.fork()
        if child == 0:
            _become([asked, saying], [asking, heard])
            try:
                cell.main()
                sys.stdout.buffer.flush()
            finally:
                os._exit(0)
        os.close(asked)
        os.close(saying)
        with os.fdopen(asking, "wb") as pipe:
            pipe.write(line)
        with os.fdopen(heard, "rb") as pipe:
            sent = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ended = {"code": code, "sent": base64.b64encode(sent).decode()}
        sys.stdout.write(json.dumps(ended) + "\n")
        sys.stdout.flush()


def _become(ours: Sequence[int], theirs: Sequence[int]) -> None:
    """Standard input and output are the pipes of this question."""
    for number, pipe in enumerate(ours):
        os.dup2(pipe, number)
    for pipe in (*ours, *theirs):
        os.close(pipe)
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False))
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False))


if __name__ == "__main__":
    serve()
