"""Real child processes, killed for real; no JVM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zklake.errors import RunError
from zklake.supervision.child_process import ChildProcess
from zklake.supervision.restart_policy import RestartPolicy
from zklake.supervision.supervisor import Supervisor

QUICK = RestartPolicy(most=2, first_wait_s=0.05, longest_wait_s=0.05, final_codes=frozenset({9}))


class Child:
    """A shell script; ready when it has said so."""

    def __init__(self, name: str, script: str, directory: Path) -> None:
        self.name = name
        self.log_file = directory / f"{name}.log"
        self.process: ChildProcess | None = None
        self.launches = 0
        self._script = script

    @property
    def exit_code(self) -> int | None:
        return self.process.exit_code if self.process else None

    def is_alive(self) -> bool:
        return self.process is not None and self.process.is_alive()

    def launch(self) -> None:
        self.process = ChildProcess(["sh", "-c", self._script], self.log_file)
        self.launches += 1

    def find_obstacle(self) -> str | None:
        said = self.log_file.read_text() if self.log_file.exists() else ""
        return None if said.count("ready") >= self.launches else "warming up"

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        if self.process is not None and self.process.is_alive():
            self.process.kill()


class Notes:
    """What a supervisor told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.states: list[tuple[str, str]] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def show_state(self, name: str, state: str) -> None:
        self.states.append((name, state))


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def ended() -> threading.Event:
    return threading.Event()


@pytest.fixture
def make_child(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    children: list[Child] = []

    def make(script: str) -> Child:
        children.append(Child(f"child-{len(children)}", script, tmp_path))
        children[-1].launch()
        return children[-1]

    yield make
    for child in children:
        child.close()


@pytest.fixture
def supervisor(
    notes: Notes, ended: threading.Event, make_child: Callable[[str], Child]
) -> Iterator[Supervisor]:
    """Stopped before the children are."""
    supervisor = Supervisor(notes, ended.set)
    yield supervisor
    supervisor.stop()


def wait_for(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_end_is_told_and_mended(
    supervisor: Supervisor, notes: Notes, make_child: Callable[[str], Child]
) -> None:
    child = make_child("echo ready; sleep 600")
    supervisor.follow(child, QUICK)
    supervisor.wait_ready([child.name], 120)
    child.kill()
    wait_for(lambda: len(notes.lines) == 2)
    assert child.is_alive()
    assert notes.lines[0].startswith("child-0 ended (signal 9); restart 1 of 2 in 0.05 s; its log:")
    assert notes.lines[1].startswith("child-0 is ready again, ")
    states = [state for _, state in notes.states]
    assert states[-1] == "ready"
    assert "ended (signal 9), restart 1 of 2" in states


def test_a_final_exit_code_ends_the_run_with_it(
    supervisor: Supervisor, ended: threading.Event, make_child: Callable[[str], Child]
) -> None:
    child = make_child("echo another one took over; exit 9")
    supervisor.follow(child, QUICK)
    assert ended.wait(120)
    assert supervisor.error is not None
    assert supervisor.error.exit_code == 9
    assert "child-0 ended (exit code 9): a restart would not mend that" in str(supervisor.error)
    assert str(supervisor.error).endswith("another one took over")
    assert child.launches == 1


def test_too_many_ends_end_the_run(
    supervisor: Supervisor, ended: threading.Event, make_child: Callable[[str], Child]
) -> None:
    child, other = make_child("kill -9 $$"), make_child("echo ready; sleep 600")
    supervisor.follow(other, QUICK)
    supervisor.follow(child, QUICK)
    assert ended.wait(120)
    assert supervisor.error is not None
    # Killed by a signal it has no code of its own to give.
    assert supervisor.error.exit_code == RunError.exit_code
    assert child.launches == 1 + QUICK.most
    assert other.is_alive()


def test_what_is_held_is_left_alone(
    supervisor: Supervisor, notes: Notes, make_child: Callable[[str], Child]
) -> None:
    child = make_child("echo ready; sleep 600")
    supervisor.follow(child, QUICK)
    supervisor.wait_ready([child.name], 120)
    with supervisor.hold(child.name):
        child.kill()
        wait_for(lambda: notes.states[-1][1] == "stopped on purpose")
        time.sleep(0.6)
        assert not child.is_alive()
        assert notes.lines == []
    wait_for(lambda: child.launches == 2)


def test_one_that_is_never_ready_is_named_with_its_log(
    supervisor: Supervisor, make_child: Callable[[str], Child]
) -> None:
    child = make_child("echo still thinking; sleep 600")
    supervisor.follow(child, QUICK)
    with pytest.raises(RunError, match=r"child-0 is not ready after 1 s \(warming up\)") as caught:
        supervisor.wait_ready([child.name], 1)
    assert "still thinking" in str(caught.value)


def test_nothing_is_restarted_after_stop(
    supervisor: Supervisor, make_child: Callable[[str], Child]
) -> None:
    child = make_child("echo ready; sleep 600")
    supervisor.follow(child, QUICK)
    supervisor.wait_ready([child.name], 120)
    supervisor.stop()
    child.kill()
    time.sleep(0.7)
    assert child.launches == 1


MAIN = """
import signal, sys, threading, time
from zklake.supervision.supervisor import interrupt_main

def handle(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, handle)
threading.Timer(0.2, interrupt_main).start()
try:
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_the_main_thread_is_woken_wherever_it_waits() -> None:
    began = time.monotonic()
    assert subprocess.run([sys.executable, "-c", MAIN], check=False).returncode == 7
    assert time.monotonic() - began < 120
