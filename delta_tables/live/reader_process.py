"""The process that holds a lake's tables: `python -m delta_tables.live.reader_process`.

Its stdin is a socket over which it gets a socket per question, each answered in a thread of its
own. It ends with whoever started it. It cannot write files, and the kernel bounds its memory.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
from pathlib import Path

import msgspec

from delta_tables.asking.confinement import confine
from delta_tables.asking.messages import (
    COLUMNS,
    END,
    ERROR,
    GONE,
    MEMORY,
    ROWS,
    SAID,
    Writable,
    pack_names,
    pack_rows,
    read_message,
    write_message,
)
from delta_tables.asking.refusals import is_out_of_memory
from delta_tables.live.opener import Opener
from delta_tables.live.questions import READY, ListFiles, Look, Question, Run
from delta_tables.live.snapshot import SnapshotGone

# So many queries run at once; the others wait.
_RUNNING = 4
_LOOK_AGAIN_S = 0.1
# Threads take address space for their stacks, if hardly any memory.
_STACK_BYTES = 1 << 30
_LONGEST_QUESTION = 1 << 24
# Among all processes the one that the kernel should end first when memory runs out.
_EXPENDABLE = "800"


def main() -> None:
    """Answer until whoever asks is gone."""
    lake, cluster, memory_bytes = sys.argv[1:]
    control = socket.socket(fileno=os.dup(0))
    desk = Desk(Opener(lake, cluster, memory_bytes=int(memory_bytes) // 2))
    with contextlib.suppress(OSError):  # not everywhere is there such a thing
        Path("/proc/self/oom_score_adj").write_text(_EXPENDABLE)
    confine(int(memory_bytes) + _STACK_BYTES)
    control.sendall(READY)
    while True:
        data, handed, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            os._exit(0)  # a query that runs is nobody's any more
        line = socket.socket(fileno=handed[0])
        try:
            threading.Thread(target=desk.answer, args=(line,), daemon=True).start()
        except RuntimeError:  # no memory for one more
            with line, line.makefile("wb") as pipe, contextlib.suppress(OSError):
                write_message(pipe, MEMORY)


class Desk:
    """Answers questions; any number at once."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._turns = threading.Semaphore(_RUNNING)

    def answer(self, line: socket.socket) -> None:
        """One question, and its answer; who asked may hang up at any time."""
        with line, line.makefile("rwb") as pipe, contextlib.suppress(OSError, EOFError):
            question = msgspec.json.decode(
                read_message(pipe, _LONGEST_QUESTION).data, type=Question
            )
            try:
                self._answer(question, line, pipe)
            except SnapshotGone as error:
                write_message(pipe, GONE, str(error).encode())
            except MemoryError:
                write_message(pipe, MEMORY)
            except OSError:
                raise  # it is the line
            except Exception as error:
                text = str(error)
                kind = MEMORY if is_out_of_memory(text) else ERROR
                write_message(pipe, kind, text.encode(errors="replace"))

    def _answer(self, question: Question, line: socket.socket, pipe: Writable) -> None:
        match question:
            case Look(anew):
                write_message(pipe, SAID, msgspec.json.encode(self._opener.look(anew=anew)))
            case ListFiles(name, state):
                write_message(pipe, SAID, msgspec.json.encode(self._opener.list_files(name, state)))
            case Run():
                while not self._turns.acquire(timeout=_LOOK_AGAIN_S):
                    if _is_left(line):
                        return
                try:
                    self._run(question, line, pipe)
                finally:
                    self._turns.release()

    def _run(self, question: Run, line: socket.socket, pipe: Writable) -> None:
        batches = self._opener.run(question.asking)
        write_message(pipe, COLUMNS, pack_names(next(batches).schema.names))
        for batch in batches:
            if _is_left(line):
                return
            if batch.num_rows:
                write_message(pipe, ROWS, pack_rows(batch))
        write_message(pipe, END)


def _is_left(line: socket.socket) -> bool:
    """Whether who asked has hung up: nothing else comes after a question."""
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(0))


if __name__ == "__main__":
    main()
