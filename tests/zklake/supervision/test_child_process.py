from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zklake.supervision.child_process import ChildProcess


def wait_gone(pid: int, timeout_s: float = 60.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    """A zombie that nobody has reaped yet does not run any more."""
    reply = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(reply.stdout.strip()) and not reply.stdout.startswith("Z")


def start_parent(code: str, *args: str) -> subprocess.Popen[str]:
    """A Python process that starts something, prints its pid, and then hangs."""
    script = f"import sys\n{code}\nprint(child.pid, flush=True)\nimport time\ntime.sleep(600)"
    return subprocess.Popen(
        [sys.executable, "-c", script, *args],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )


def kill_parent_and_find_child(parent: subprocess.Popen[str]) -> int:
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    return child


SLEEPER = """
from pathlib import Path
from zklake.supervision.child_process import ChildProcess
child = ChildProcess(["sleep", "600"], Path(sys.argv[1]))
"""

ZOOKEEPER = """
from pathlib import Path
from lab.zookeeper import ZooKeeperServer
child = ZooKeeperServer(directory=Path(sys.argv[1]))
child.start()
"""


@pytest.fixture
def sleeper(tmp_path: Path) -> ChildProcess:
    return ChildProcess(["sleep", "600"], tmp_path / "log")


def test_pid_is_the_program_itself(sleeper: ChildProcess) -> None:
    try:
        # The shell needs a moment more to become the program.
        time.sleep(0.3)
        reply = subprocess.run(
            ["ps", "-o", "args=", "-p", str(sleeper.pid)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert reply.stdout.strip() == "sleep 600"
    finally:
        sleeper.kill()


def test_dies_when_the_parent_is_killed_with_9(tmp_path: Path) -> None:
    child = kill_parent_and_find_child(start_parent(SLEEPER, str(tmp_path / "log")))
    assert wait_gone(child)


def test_dies_even_when_paused(tmp_path: Path) -> None:
    code = SLEEPER + "child.pause()\n"
    child = kill_parent_and_find_child(start_parent(code, str(tmp_path / "log")))
    assert wait_gone(child)


def test_kill_and_stop_say_how_it_ended(sleeper: ChildProcess, tmp_path: Path) -> None:
    other = ChildProcess(["sleep", "600"], tmp_path / "other")
    assert sleeper.is_alive()
    sleeper.kill()
    other.stop()
    assert (sleeper.exit_code, other.exit_code) == (-signal.SIGKILL, -signal.SIGTERM)
    assert not sleeper.is_alive()


def test_stop_kills_what_does_not_listen(tmp_path: Path) -> None:
    deaf = ChildProcess(
        ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"], tmp_path / "log"
    )
    while "deaf" not in deaf.tail():
        time.sleep(0.02)
    deaf.stop(timeout_s=0.3)
    assert deaf.exit_code == -signal.SIGKILL


def test_stop_reaches_a_paused_program(sleeper: ChildProcess) -> None:
    sleeper.pause()
    sleeper.stop()
    assert sleeper.exit_code == -signal.SIGTERM


def test_tail_shows_both_outputs(tmp_path: Path) -> None:
    child = ChildProcess(["sh", "-c", "echo one; echo two >&2; exit 7"], tmp_path / "log")
    while child.is_alive():
        time.sleep(0.02)
    assert child.exit_code == 7
    assert child.tail() == "one\ntwo"
    assert child.tail(1) == "two"


@pytest.mark.integration
def test_no_jvm_is_left_after_kill_9_of_the_parent(tmp_path: Path) -> None:
    jvm = kill_parent_and_find_child(start_parent(ZOOKEEPER, str(tmp_path)))
    assert wait_gone(jvm)
