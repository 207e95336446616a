"""`zklake backfill` as a person runs it: what it prints, what it refuses, and with which words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from delta_tables import reading
from tests.streaming.past_files import BACK, DIED, FIRST_SET, LAST, write_files
from tests.watcher.txnlog.writing import HEADER, START_MS, sets, write_log
from zklake.cli.main import app
from zklake.errors import ZklakeError

HOUR = 3600_000


@pytest.fixture(autouse=True)
def of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(*options: str) -> Result:
    return CliRunner().invoke(app, ["backfill", "--lake", "lake", "--cluster", "c", *options])


def run_json(*options: str) -> dict[str, Any]:
    result = run("--json", *options)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def ask(sql: str) -> list[dict[str, Any]]:
    return reading.read_rows("lake", "c", sql)


def test_a_copy_of_a_data_directory_becomes_tables(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_files(tmp_path / "data" / "version-2")
    said = run_json("--txnlog", "data")
    assert (said["transactions"], said["first_zxid"], said["last_zxid"]) == (LAST, 1, LAST)
    assert said["findings"] == []
    assert said["meets_live_log"] is False
    assert said["rows"]["broker_membership"] == 2
    assert said["last_at"].endswith("Z")
    brokers = "SELECT valid_from_zxid AS z, exit FROM broker_membership ORDER BY 1"
    assert [row["z"] for row in ask(brokers)] == [7, BACK]
    again = run("--txnlog", "data")
    assert again.exit_code == 0
    assert again.stdout.startswith("nothing new for")


def test_people_are_told_what_was_found(tmp_path: Path) -> None:
    write_files(tmp_path / "data")
    torn = write_log(tmp_path / "data", LAST + 1, sets("/config", [LAST + 1]), padding=0)
    torn.write_bytes(torn.read_bytes()[:-3])
    result = run("--txnlog", "data")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{LAST} transactions, 2026-")
    assert "ends within a record" in result.stderr
    assert str(len(HEADER)) in result.stderr
    assert "rebuilding partition_state" in result.stderr


def test_a_span_of_time_and_a_chroot(tmp_path: Path) -> None:
    write_files(tmp_path / "data")
    since, until = (write_time(START_MS + 1000 * second) for second in (FIRST_SET, DIED - 5))
    said = run_json("--txnlog", "data", "--since", since, "--until", until, "--chroot", "/brokers")
    assert said["last_zxid"] == DIED - 5
    assert {row["path"].split("/")[1] for row in ask("SELECT path FROM znode_events")} <= {
        *("", "ids", "topics")
    }


def write_time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()


def refuse(*options: str) -> str:
    result = run(*options)
    assert isinstance(result.exception, ZklakeError), result.output
    return str(result.exception)


def test_what_cannot_be_is_refused_with_advice(tmp_path: Path) -> None:
    write_files(tmp_path / "data")
    assert "zoo.cfg" in refuse("--txnlog", "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no transaction logs" in refuse("--txnlog", "empty")
    assert "yesterday" in refuse("--txnlog", "data", "--since", "yesterday-ish")
    late = write_time(START_MS + HOUR)
    assert "--since" in refuse("--txnlog", "data", "--since", late)
    assert run().exit_code == 2, "--txnlog is wanted"


def test_what_is_older_than_the_past_is_said_to_be_left_out(tmp_path: Path) -> None:
    write_files(tmp_path / "data")
    (tmp_path / "later").mkdir()
    name = f"log.{FIRST_SET:x}"
    (tmp_path / "later" / name).write_bytes((tmp_path / "data" / name).read_bytes())
    first = run_json("--txnlog", "later")
    assert first["first_zxid"] == FIRST_SET
    assert any("what stood before" in one["says"] for one in first["findings"])
    second = run_json("--txnlog", "data")
    assert second["transactions"] == 0
    assert any("left out" in one["says"] for one in second["findings"])
