from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lab.kafka import find_brokers

pytestmark = pytest.mark.integration

COMMAND = [sys.executable, "-c", "from zklake.cli.lab import app; app()", "up", "--json"]


def start_lab(*options: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    lab = subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, text=True)
    assert lab.stdout is not None
    return lab, json.loads(lab.stdout.readline())


def find_running(described: dict[str, Any]) -> list[str]:
    """The lab's JVMs that run; a zombie that nobody has reaped yet does not."""
    pids = ",".join(str(server["pid"]) for server in described["servers"])
    reply = subprocess.run(
        ["ps", "-o", "stat=", "-p", pids], capture_output=True, text=True, check=False
    )
    return [line for line in reply.stdout.split() if not line.startswith("Z")]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_everything_is_gone_after(end: signal.Signals) -> None:
    lab, described = start_lab("--chroot", "/kafka")
    with lab:
        assert described["zookeeper"].endswith("/kafka")
        assert len(find_running(described)) == 2
        lab.send_signal(end)
        assert lab.wait(120) == 0
    assert find_running(described) == []
    assert not Path(described["directory"]).exists()


def test_three_brokers_know_each_other_and_none_outlives_kill_9(tmp_path: Path) -> None:
    lab, described = start_lab("--brokers", "3", "--dir", str(tmp_path))
    with lab:
        try:
            # Whichever is asked.
            assert [find_brokers(one) for one in described["bootstrap"].split(",")] == [
                {0, 1, 2}
            ] * 3
            assert len(find_running(described)) == 4
        finally:
            lab.kill()
    deadline = time.monotonic() + 60
    while find_running(described) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert find_running(described) == []
    # The directory was given: what the brokers told stays. (A broker can be met before it says that
    # it has started, but not before it says that it has registered.)
    log = (tmp_path / "broker-2" / "server.log").read_text()
    assert "Registered broker 2 at path /brokers/ids/2" in log
