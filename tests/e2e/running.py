"""A real `zklake run` under way, for tests that end it or its parts."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.processes import list_children
from zklake.supervision.child_process import ChildProcess

# A stream that starts on a busy machine takes minutes.
PATIENCE_S = 420.0
# More lines than any run says.
_ALL = 10_000


class Run:
    """The process and what it said so far; its parts log to files of their names."""

    def __init__(self, place: Path, *options: str) -> None:
        command = [sys.executable, "-m", "zklake", "run", "--dir", str(place), *options]
        self.process = ChildProcess(command, place.with_suffix(".log"))

    def wait_for(self, pattern: str) -> None:
        """Until it has said that."""
        deadline = time.monotonic() + PATIENCE_S
        while not re.search(pattern, said := self.process.tail(_ALL)):
            assert self.process.is_alive(), f"ended before it said {pattern}:\n{said}"
            assert time.monotonic() < deadline, f"never said {pattern}:\n{said}"
            time.sleep(0.1)

    def wait(self, timeout_s: float) -> int:
        """Until it has ended; its exit code."""
        deadline = time.monotonic() + timeout_s
        while (code := self.process.exit_code) is None:
            assert time.monotonic() < deadline, f"still runs after {timeout_s} s"
            time.sleep(0.05)
        return code

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        os.kill(self.process.pid, signal.SIGINT)

    def kill(self, *names: str) -> None:
        """Kill -9 of the parts that write the logs of these names, at once."""
        writers = self._find_writers()
        for name in names:
            os.kill(writers[name], signal.SIGKILL)

    def _find_writers(self) -> dict[str, int]:
        found = {}
        for pid in list_children(self.process.pid):
            with suppress(OSError):  # it has just ended
                found[Path(os.readlink(f"/proc/{pid}/fd/1")).stem] = pid
        return found

    def list_descendants(self) -> list[int]:
        """The processes that it started, and theirs."""
        found, new = [], [self.process.pid]
        while new:
            new = [child for pid in new for child in list_children(pid)]
            found += new
        return found


@contextmanager
def running(place: Path, *options: str) -> Iterator[Run]:
    """Whatever comes, it is ended, and what it said is shown if the test fails."""
    run = Run(place, *options)
    try:
        yield run
    finally:
        run.process.stop(60)
        print(run.process.tail(_ALL))
