"""`zklake backfill --heal` as a person runs it: what it prints and refuses; killed on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from delta_tables import reading
from streaming.lake.lease import LeaseHeld, hold_lease
from tests.streaming.past_files import write_files
from tests.streaming.test_backfill import read_tables, stream
from tests.streaming.test_healing import LOST, live_until_back, lose
from zklake.cli.main import app
from zklake.errors import LakeError, SettingsError
from zklake.events.envelope import Event

# Dies by kill -9 once so many batches are written; a batch is one value.
_KILLED = """
import os, signal, sys
from streaming import healing
from streaming.lake import rewriting
from watcher.txnlog import healing as reading
from zklake.cli.main import app

reading._BATCH_EVENTS, left = 1, int(sys.argv.pop(1))
put = healing.Healing.put

def put_or_die(self, events):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return put(self, events)

healing.Healing.put = put_or_die
app()
"""


@pytest.fixture(autouse=True)
def of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_files(tmp_path / "data")


@pytest.fixture
def log(tmp_path: Path) -> list[Event]:
    """In the lake without some of its values."""
    events = live_until_back().events
    stream(tmp_path / "lake", lose(events))
    return events


OPTIONS = ("backfill", "--heal", "--txnlog", "data", "--lake", "lake", "--cluster", "c")


def run(*options: str) -> Result:
    return CliRunner().invoke(app, [*OPTIONS, *options])


def test_what_is_healed_is_said(log: list[Event]) -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    assert (said["superseded"], said["healed"]) == (len(LOST) + 1,) * 2
    assert said["healed_by_kind"] == {"partition_state": len(LOST), "broker": 1}
    assert (said["withheld"], said["findings"]) == (0, [])
    states = sum(event.kind == "partition_state" for event in log)
    assert said["rows"]["partition_state"] == states
    assert "rebuilding partition_state" in result.stderr
    again = run()
    assert again.exit_code == 0
    assert again.stdout.startswith("nothing new to heal in ")
    assert json.loads(run("--json").stdout)["rows"] == {}


def test_people_are_told_what_is_left(log: list[Event], tmp_path: Path) -> None:
    """Files that end too early."""
    write_files(tmp_path / "data", last=22)
    result = run()
    assert result.exit_code == 0
    healed, left, made = result.stdout.splitlines()
    assert healed == "healed 2 superseded values"
    assert left == f"{len(LOST) - 1} superseded values not found in the files"
    assert made.startswith("made ")
    assert made.endswith("/lake/c")


def test_killed_anywhere_it_is_taken_up_again(log: list[Event], tmp_path: Path) -> None:
    stream(tmp_path / "well", log)
    for most, in_all in ((0, 0), (1, 1), (len(LOST) - 1, len(LOST))):
        argv = [sys.executable, "-c", _KILLED, str(most), *OPTIONS]
        assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
        sql = "SELECT count(*) AS n FROM znode_events WHERE origin = 'txnlog'"
        assert reading.read_rows("lake", "c", sql) == [{"n": in_all}]
    result = run("--json")
    assert json.loads(result.stdout)["healed"] == 1
    assert read_tables(tmp_path / "lake") == read_tables(tmp_path / "well")


def refuse(*options: str) -> BaseException:
    result = run(*options)
    assert result.exception is not None, result.output
    return result.exception


def test_what_cannot_be_is_refused_with_advice(log: list[Event], tmp_path: Path) -> None:
    with hold_lease(str(tmp_path / "lake"), "c"):
        refused = refuse()
    assert isinstance(refused, LeaseHeld)
    assert "Stop that one" in str(refused)
    refused = refuse("--since", "-1h")
    assert isinstance(refused, SettingsError)
    assert "--since" in str(refused)
    refused = refuse("--lake", "elsewhere")
    assert isinstance(refused, LakeError)
    assert "nothing to heal" in str(refused)
    assert not (tmp_path / "elsewhere").exists()
    assert read_tables(tmp_path / "lake")["partition_state"], "it is as it was"
