"""`zklake run` while somebody kills its processes; and the run after it, which goes on."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from delta_tables.reading import read_rows
from tests.e2e.running import PATIENCE_S, running

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1500)]

PARTS = ("watch", "broker-1", "zookeeper-1", "readers_a", "stream")


def find_running(pids: list[int]) -> list[str]:
    """Which of these still run; a zombie does not."""
    chosen = ",".join(map(str, pids))
    reply = subprocess.run(
        ["ps", "-o", "stat=,args=", "-p", chosen], capture_output=True, text=True, check=False
    )
    return [line for line in reply.stdout.splitlines() if not line.startswith("Z")]


def test_what_is_killed_comes_back_and_the_next_run_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with running(place, "--calm") as run:
        run.wait_for("everything is running")
        for name in PARTS:
            run.kill(name)
            run.wait_for(rf"{name} ended \(signal 9\); restart 1 of 5")
            run.wait_for(rf"{name} is ready again")
        processes = run.list_descendants()
        run.interrupt()
        assert run.wait(60) == 0
        assert find_running(processes) == []
    ids = read_rows(str(place / "lake"), "lab", "SELECT DISTINCT log_id FROM znode_events")
    lake = str(place / "lake")
    with running(place, "--calm") as run:
        deadline = time.monotonic() + PATIENCE_S
        # The watcher that was killed, and the pause between the two runs.
        while (gaps := list_gaps(lake)).count("restart") < 2:
            assert time.monotonic() < deadline, gaps
            time.sleep(1)
        run.interrupt()
        assert run.wait(60) == 0
    assert read_rows(lake, "lab", "SELECT DISTINCT log_id FROM znode_events") == ids
    assert gaps[0] == "first_start"


def list_gaps(lake: str) -> list[str]:
    rows = read_rows(lake, "lab", "SELECT reason FROM log_gaps ORDER BY valid_from_seq")
    return [row["reason"] for row in rows]


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    with running(tmp_path / "run", "--calm") as run:
        run.wait_for("starting 3 Kafka broker")
        time.sleep(3)
        processes = run.list_descendants()
        assert len(processes) > 4
        run.interrupt()
        run.wait_for("stopping")
        began = time.monotonic()
        run.interrupt()
        assert run.wait(30) == 0
        assert time.monotonic() - began < 5
        assert find_running(processes) == []
