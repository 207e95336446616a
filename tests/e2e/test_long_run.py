"""`zklake run` while somebody kills its processes; and the run after it, which goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from delta_tables.reading import read_rows

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1500)]

# By process: what stands in its command line.
SIGNS = {
    "watch": "-m zklake watch",
    "broker-1": "broker-1/server.properties",
    "zookeeper-1": "zoo.cfg",
    "readers_a": "--consumer-id=a",
    "stream": "-m zklake stream",
}


class Running:
    """A run under way, and what it said so far."""

    def __init__(self, place: Path, *options: str) -> None:
        command = [sys.executable, "-m", "zklake", "run", "--dir", str(place), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            print(line, end="", flush=True)
            self.lines.append(line)

    def wait_for(self, pattern: str, timeout_s: float = 300.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not any(re.search(pattern, line) for line in list(self.lines)):
            assert time.monotonic() < deadline, f"never said: {pattern}"
            assert self.process.poll() is None, f"ended before it said: {pattern}"
            time.sleep(0.1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def running(place: Path, *options: str) -> Iterator[Running]:
    run = Running(place, *options)
    try:
        yield run
    finally:
        run.close()


def list_descendants(pid: int) -> dict[int, str]:
    """Command lines by process id, of children and theirs."""
    reply = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in reply.stdout.splitlines()]
    found: dict[int, str] = {}
    parents = {pid}
    while parents:
        children = {int(row[0]): row[2] for row in rows if int(row[1]) in parents}
        found |= children
        parents = set(children)
    return found


def find_running(pids: dict[int, str]) -> list[str]:
    """Which of these still run; a zombie does not."""
    chosen = ",".join(map(str, pids))
    reply = subprocess.run(
        ["ps", "-o", "stat=,args=", "-p", chosen], capture_output=True, text=True, check=False
    )
    return [line for line in reply.stdout.splitlines() if not line.startswith("Z")]


def test_what_is_killed_comes_back_and_the_next_run_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with running(place, "--calm") as run:
        run.wait_for("everything runs")
        for name, sign in SIGNS.items():
            processes = list_descendants(run.process.pid)
            (pid,) = [
                pid for pid, args in processes.items() if sign in args and "sh -c" not in args
            ]
            os.kill(pid, signal.SIGKILL)
            run.wait_for(rf"{name} ended \(signal 9\); restart 1 of 5")
            run.wait_for(rf"{name} is ready again")
        processes = list_descendants(run.process.pid)
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(60) == 0
        assert find_running(processes) == []
    ids = read_rows(str(place / "lake"), "lab", "SELECT DISTINCT log_id FROM znode_events")
    with running(place, "--calm", "--once") as run:
        assert run.process.wait(600) == 0
    lake = str(place / "lake")
    assert read_rows(lake, "lab", "SELECT DISTINCT log_id FROM znode_events") == ids
    gaps = read_rows(lake, "lab", "SELECT reason, is_open FROM log_gaps ORDER BY valid_from_seq")
    # The watcher that was killed, and the pause between the two runs.
    assert [gap["reason"] for gap in gaps].count("restart") >= 2
    assert gaps[0]["reason"] == "first_start"


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    with running(tmp_path / "run", "--calm") as run:
        run.wait_for("starting 3 Kafka broker")
        time.sleep(3)
        processes = list_descendants(run.process.pid)
        assert len(processes) > 4
        run.process.send_signal(signal.SIGINT)
        run.wait_for("stopping")
        began = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(30) == 0
        assert time.monotonic() - began < 5
        assert find_running(processes) == []
