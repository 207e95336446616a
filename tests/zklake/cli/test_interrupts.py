from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# A program that does not hear SIGTERM and has a child of its own, and a command that runs it.
DEAF = "trap '' TERM; sleep 600 & echo $!; echo deaf; while :; do sleep 0.1; done"
COMMAND = """
import sys, time
from pathlib import Path
from zklake.supervision.child_process import ChildProcess
from zklake.cli.interrupts import Interrupts

with Interrupts():
    child = ChildProcess(["sh", "-c", sys.argv[1]], Path(sys.argv[2]))
    while "deaf" not in child.tail():
        time.sleep(0.02)
    try:
        print(child.pid, child.tail().split()[0], flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        print("stopping", flush=True)
        child.stop(float(sys.argv[3]))
        print("stopped", flush=True)
"""


@pytest.fixture
def command(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    arguments = [sys.executable, "-c", COMMAND, DEAF, str(tmp_path / "log"), str(request.param)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def read_line(command: subprocess.Popen[str]) -> str:
    assert command.stdout is not None
    return command.stdout.readline().strip()


def is_running(pid: int) -> bool:
    reply = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    # Nobody may have reaped it yet.
    return bool(reply.stdout) and not reply.stdout.startswith(b"Z")


@pytest.mark.parametrize("command", [600.0], indirect=True)
def test_the_second_ctrl_c_kills_what_still_runs(command: subprocess.Popen[str]) -> None:
    pids = [int(pid) for pid in read_line(command).split()]
    assert all(map(is_running, pids))
    command.send_signal(signal.SIGINT)
    assert read_line(command) == "stopping"
    time.sleep(0.2)
    assert all(map(is_running, pids))
    command.send_signal(signal.SIGTERM)
    # The closing goes on to its end.
    assert read_line(command) == "stopped"
    assert command.wait(120) == 0
    assert not any(map(is_running, pids))


@pytest.mark.parametrize("command", [0.3], indirect=True)
def test_one_that_does_not_stop_is_killed_with_its_children(
    command: subprocess.Popen[str],
) -> None:
    pids = [int(pid) for pid in read_line(command).split()]
    command.send_signal(signal.SIGTERM)
    assert command.wait(120) == 0
    assert not any(map(is_running, pids))
