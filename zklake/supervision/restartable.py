"""A program that is started, ended and started again in its place, run after run.

One `ChildProcess` is one run; whoever has runs of the same program has them through this.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zklake.errors import RunError
from zklake.supervision.child_process import ChildProcess


class RestartableProcess:
    """At most one run at a time, each appended to the same log file."""

    def __init__(self, title: str, log_file: Path) -> None:
        """Nothing starts yet. `title` is how error messages call it."""
        self.log_file = log_file
        self._title = title
        self._process: ChildProcess | None = None

    @property
    def pid(self) -> int:
        """The process id of the last run."""
        return self._running().pid

    @property
    def exit_code(self) -> int | None:
        """Of the last run; None while it runs, and before the first."""
        return self._process.exit_code if self._process else None

    def is_alive(self) -> bool:
        """Whether it runs (a paused one does)."""
        return self._process is not None and self._process.is_alive()

    def is_awake(self) -> bool:
        """Whether it runs and is not paused."""
        return self.is_alive() and not self._running().is_paused

    def kill(self) -> None:
        """Kill -9."""
        self._running().kill()

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting."""
        self._running().ask_to_stop()

    def stop(self, timeout_s: float = 10.0) -> None:
        """SIGTERM, then kill -9 when that takes too long."""
        self._running().stop(timeout_s)

    def pause(self) -> None:
        """SIGSTOP: sockets stay open, nothing answers."""
        self._running().pause()

    def resume(self) -> None:
        """SIGCONT."""
        self._running().resume()

    def _run(self, command: Sequence[str]) -> None:
        """Start the next run and do not wait for it."""
        self._check_idle()
        self._process = ChildProcess(command, self.log_file)

    def _check_idle(self) -> None:
        if self.is_alive():
            raise RunError(f"{self._title} already runs (pid {self.pid})")

    def _running(self) -> ChildProcess:
        if self._process is None:
            raise RunError(f"{self._title} was never started: call start() first")
        return self._process
