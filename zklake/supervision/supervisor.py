"""Follows the processes of a run: an end is reported, and mended or final, as the policy has it.

One thread per process. It does not know what the processes are.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from zklake.errors import RunError
from zklake.supervision.child_process import read_tail
from zklake.supervision.restart_policy import End, RestartPolicy, explain_code, judge

_POLL_S = 0.5
_READY = "ready"
_LAST_LINES = 15


class SupervisedProcess(Protocol):
    """A process that can be started again in its place."""

    name: str
    log_file: Path

    @property
    def exit_code(self) -> int | None:
        """Of the last run, if that is over."""

    def is_alive(self) -> bool:
        """Whether it runs."""

    def launch(self) -> None:
        """Start it and do not wait until it is ready."""

    def find_obstacle(self) -> str | None:
        """Why a running one is not ready; None: it is."""


class Reporter(Protocol):
    """Shows what a supervisor reports."""

    def say(self, line: str) -> None:
        """Something happened."""

    def show_state(self, name: str, state: str) -> None:
        """How a process is now."""


class RunOver(RunError):
    """A process ended for good; the exit code is its own, if it had one."""

    def __init__(self, message: str, exit_code: int | None) -> None:
        super().__init__(message)
        if exit_code is not None and exit_code > 0:
            self.exit_code = exit_code


class Supervisor:
    """Follows processes until stopped. `error` says why the run is over, if it is."""

    def __init__(self, reporter: Reporter, on_end: Callable[[], None]) -> None:
        """`on_end` is called once, on a thread of ours, when `error` is set."""
        self.error: RunOver | None = None
        self._reporter = reporter
        self._on_end = on_end
        self._stopping = threading.Event()
        self._watches: dict[str, _Watch] = {}

    def follow(self, process: SupervisedProcess, policy: RestartPolicy = RestartPolicy()) -> None:
        """From now on, until `stop`."""
        watch = _Watch(process, policy)
        self._watches[process.name] = watch
        thread = threading.Thread(
            target=self._follow, args=(watch,), name=f"follow {process.name}", daemon=True
        )
        watch.thread = thread
        thread.start()

    @contextmanager
    def hold(self, *names: str) -> Iterator[None]:
        """Leave these alone meanwhile: somebody ends and starts them on purpose."""
        with ExitStack() as stack:
            for name in sorted(names):
                stack.enter_context(self._watches[name].lock)
            yield

    def wait_ready(self, names: Sequence[str], timeout_s: float) -> None:
        """Wait until all of these are ready."""
        deadline = time.monotonic() + timeout_s
        while late := [w for w in map(self._watches.__getitem__, names) if w.state != _READY]:
            if time.monotonic() > deadline:
                process, state = late[0].process, late[0].state
                raise RunError(
                    f"{process.name} is not ready after {timeout_s:.0f} s ({state}); "
                    f"its log {process.log_file} ends:\n{read_tail(process.log_file, _LAST_LINES)}"
                )
            time.sleep(_POLL_S / 5)

    def stop(self) -> None:
        """Follow nobody any more."""
        self._stopping.set()
        for watch in self._watches.values():
            # One that is starting something may take long; what it starts ends with this process.
            watch.thread.join(2.0)

    def _follow(self, watch: _Watch) -> None:
        while not self._stopping.wait(_POLL_S):
            if not watch.lock.acquire(blocking=False):
                self._show(watch, "stopped on purpose")
                continue
            try:
                self._look(watch)
            finally:
                watch.lock.release()

    def _look(self, watch: _Watch) -> None:
        if not watch.process.is_alive():
            self._face_death(watch)
            return
        self._show(watch, watch.process.find_obstacle() or _READY)
        if watch.state == _READY and watch.died_at is not None:
            took = time.monotonic() - watch.died_at
            self._reporter.say(f"{watch.process.name} is ready again, {took:.1f} s after its end")
            watch.died_at = None

    def _face_death(self, watch: _Watch) -> None:
        now, code = time.monotonic(), watch.process.exit_code
        watch.deaths.append(now)
        watch.died_at = watch.died_at or now
        ended = f"{watch.process.name} ended ({explain_code(code)})"
        verdict = judge(watch.policy, watch.deaths, code)
        if isinstance(verdict, End):
            self._end(watch, f"{ended}: {verdict.why}", code)
            return
        nth = f"restart {verdict.nth} of {watch.policy.most}"
        self._reporter.say(
            f"{ended}; {nth} in {verdict.wait_s:g} s; its log: {watch.process.log_file}"
        )
        self._show(watch, f"ended ({explain_code(code)}), {nth}")
        if not self._stopping.wait(verdict.wait_s):
            self._launch(watch.process)

    def _launch(self, process: SupervisedProcess) -> None:
        try:
            process.launch()
        except Exception as error:  # the thread must live: its next look counts one more end
            self._reporter.say(f"{process.name} cannot be started: {explain_briefly(error)}")

    def _end(self, watch: _Watch, why: str, code: int | None) -> None:
        self._show(watch, "ended for good")
        if self._stopping.is_set() or self.error is not None:
            return
        log_file = watch.process.log_file
        self.error = RunOver(
            f"{why}. Its log {log_file} ends:\n{read_tail(log_file, _LAST_LINES)}", code
        )
        self._stopping.set()
        self._on_end()

    def _show(self, watch: _Watch, state: str) -> None:
        if state != watch.state:
            watch.state = state
            self._reporter.show_state(watch.process.name, state)


class _Watch:
    """One process, as its thread knows it."""

    thread: threading.Thread

    def __init__(self, process: SupervisedProcess, policy: RestartPolicy) -> None:
        self.process = process
        self.policy = policy
        self.lock = threading.Lock()
        self.deaths: list[float] = []
        # When it ended, until it is ready again.
        self.died_at: float | None = None
        self.state = ""


def interrupt_main() -> None:
    """Wake the main thread, wherever it waits, by what Ctrl-C would do."""
    ident = threading.main_thread().ident
    assert ident is not None
    signal.pthread_kill(ident, signal.SIGINT)


def explain_briefly(error: Exception) -> str:
    """The first line of an error."""
    return (str(error) or repr(error)).splitlines()[0]
