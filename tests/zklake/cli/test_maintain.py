from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from delta_tables.asking.stats import measure_lake
from streaming.lake.lease import FILE_NAME, Lease
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import Upkeep
from tests.aged import CLUSTER, copy_lake, list_files, read_table
from zklake.cli.main import app
from zklake.errors import LakeError


def run(lake: Path, *args: str) -> str:
    options = ["--lake", str(lake), "--cluster", CLUSTER]
    result = CliRunner().invoke(app, [*args, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_dry_run_changes_nothing_and_the_real_one_does_what_it_said(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    files = list_files(tmp_path)
    planned = json.loads(
        run(tmp_path, "maintain", "topics", "partition_state", "--dry-run", "--json")
    )
    assert list_files(tmp_path) == files
    done = json.loads(run(tmp_path, "maintain", "topics", "partition_state", "--json"))
    names = ("table", "action")
    assert [[row[n] for n in names] for row in done] == [[row[n] for n in names] for row in planned]
    assert {row["table"] for row in done} == {"topics", "partition_state"}
    assert run(tmp_path, "maintain", "topics", "partition_state") == ""
    assert not (tmp_path / CLUSTER / FILE_NAME).exists()


def test_the_stream_that_holds_the_lease_is_asked(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    rows = read_table(tmp_path, "topics")
    stop, lease = threading.Event(), Lease(str(tmp_path), CLUSTER, stale_s=3)
    upkeep = Upkeep(str(tmp_path), CLUSTER, Policy(sample_days=0), is_on=False)

    def stream() -> None:
        while not stop.wait(0.05):
            if upkeep.is_due():
                upkeep.run_step()

    lease.acquire(stop, take_over=False, on_lost=lambda _: None)
    thread = threading.Thread(target=stream)
    thread.start()
    try:
        lines = run(tmp_path, "maintain", "topics").splitlines()
        holder = (tmp_path / CLUSTER / FILE_NAME).read_text()
        assert lease.is_held
    finally:
        stop.set()
        thread.join()
        lease.release()
    assert holder
    assert [line.split(": ")[:2] for line in lines] == [["topics", "settle"], ["topics", "clean"]]
    assert read_table(tmp_path, "topics") == rows


def test_what_cannot_be_maintained_is_told(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="holds no tables"):
        run(tmp_path, "maintain")
    copy_lake(tmp_path)
    with pytest.raises(LakeError, match="no table 'topic'; use one of: quarantine"):
        run(tmp_path, "maintain", "topic")


def test_lake_stats_as_json_and_as_a_table(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    shown = json.loads(run(tmp_path, "lake", "stats", "--json"))
    wanted = measure_lake(str(tmp_path), CLUSTER)
    assert shown["watermark"] == world.last_seq
    assert [row["files"] for row in shown["tables"]] == [row.files for row in wanted.tables]
    lines = run(tmp_path, "lake", "stats").splitlines()
    assert lines[0].split()[:4] == ["table", "files", "bytes", "rows"]
    assert [line.split()[0] for line in lines[1:-1]] == [row.table for row in wanted.tables]
    assert str(world.last_seq) in lines[-1]
    with pytest.raises(LakeError, match="holds no tables"):
        run(tmp_path / "nowhere", "lake", "stats")
