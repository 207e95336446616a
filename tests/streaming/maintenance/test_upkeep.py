from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable, QueryBuilder

from delta_tables import reading
from delta_tables.asking.stats import TableStats, measure_lake
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from streaming.maintenance.plan import MOST_FILES, MaintenanceStep
from streaming.maintenance.requests import ANSWER, REQUEST, ask
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import Upkeep, do_step, maintain, plan_table
from tests.aged import CLUSTER, copy_lake, list_files, read_all, read_table
from zklake.errors import LakeError

FOREVER = Policy(sample_days=0)
BUSY = ("partition_state", "ownership_history", "consumer_offsets", "znode_events")


def test_every_row_stays_and_readers_of_an_older_snapshot_go_on(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    before, files = read_all(tmp_path), {s.table: s for s in measure(tmp_path)}
    held = {name: open_table(tmp_path, name) for name in BUSY}
    outcomes = list(maintain(str(tmp_path), CLUSTER, TABLE_BY_NAME, FOREVER))
    assert not [o for o in outcomes if o.is_error]
    assert {o.action for o in outcomes} == {
        *("settle", "roll_up", "sort", "merge", "vacuum", "clean")
    }
    after = read_all(tmp_path)
    assert after.pop("lag_rollups")
    assert after == {name: before[name] for name in after}
    for name, table in held.items():
        builder = QueryBuilder().register("held", table)
        assert builder.execute("SELECT * FROM held").read_all().num_rows == len(before[name])
    for stats in measure(tmp_path):
        table = open_table(tmp_path, stats.table)
        protocol = table.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
        assert stats.seq == files[stats.table].seq, "markers and watermark stand"
        if stats.table in BUSY:
            is_interval = TABLE_BY_NAME[stats.table].is_interval
            most = MOST_FILES if stats.table == "ownership_history" else 1
            assert stats.files < world.size.days + is_interval + most, "a file for each date"
            assert (stats.log_files or 0) < (files[stats.table].log_files or 0)
    assert [s for t in TABLES for s in plan_table(str(tmp_path), CLUSTER, t, FOREVER)[0]] == []


def test_a_large_date_is_done_in_several_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step is bounded by files and by bytes; the rows are the same."""
    copy_lake(tmp_path)
    before = read_all(tmp_path)
    for module in ("gathering", "plan"):
        monkeypatch.setattr(f"streaming.maintenance.{module}.STEP_FILES", 20)
    outcomes = list(maintain(str(tmp_path), CLUSTER, BUSY, FOREVER))
    assert not [o for o in outcomes if o.is_error]
    gathered = [o for o in outcomes if o.action == "gather" and o.table == "partition_state"]
    assert ["20 files became 1" in o.says for o in gathered[:-1]] == [True] * (len(gathered) - 1)
    assert len(gathered) > 1
    assert read_all(tmp_path) == before
    files = open_table(tmp_path, "partition_state").get_add_actions(flatten=True)
    dates = [str(on) for on in files.column("partition.closed_on").to_pylist()]
    assert len(set(dates)) == len(dates), "then it was sorted as a whole"

    whole = tmp_path / "whole"
    copy_lake(whole)
    list(maintain(str(whole), CLUSTER, ["znode_events"], Policy()))
    largest = max(files.column("size_bytes").to_pylist())
    for module in ("gathering", "plan"):
        monkeypatch.setattr(f"streaming.maintenance.{module}.STEP_BYTES", 2 * largest)
    copy = tmp_path / "copy"
    copy_lake(copy)
    outcomes = list(maintain(str(copy), CLUSTER, BUSY, Policy()))
    assert not [o for o in outcomes if o.is_error]
    assert any("up to seq" in o.says for o in outcomes if o.action == "trim")
    assert read_all(copy) == {**before, "znode_events": read_table(whole, "znode_events")}


def measure(lake: Path) -> tuple[TableStats, ...]:
    return measure_lake(str(lake), CLUSTER).tables


def open_table(lake: Path, name: str) -> DeltaTable:
    return DeltaTable(reading.table_path(str(lake), CLUSTER, name))


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    files = list_files(tmp_path)
    steps = [s for t in TABLES for s in plan_table(str(tmp_path), CLUSTER, t, Policy())[0]]
    assert {step.action for step in steps} == {
        "settle",
        "roll_up",
        "trim",
        "sort",
        "merge",
        "vacuum",
        "clean",
    }
    assert list_files(tmp_path) == files


def test_dead_files_stay_as_long_as_was_asked(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    list(maintain(str(tmp_path), CLUSTER, BUSY, Policy(keep_hours=200, sample_days=0)))
    dead = list((tmp_path / CLUSTER / "partition_state").rglob("*.parquet"))
    assert len(dead) > len(open_table(tmp_path, "partition_state").file_uris()) + 40


def drain(upkeep: Upkeep, stop: threading.Event) -> None:
    while not stop.wait(0.01):
        if upkeep.is_due():
            upkeep.run_step()


def test_whoever_asks_is_answered_step_by_step(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    upkeep, stop = Upkeep(str(tmp_path), CLUSTER, FOREVER, is_on=False), threading.Event()
    assert not upkeep.is_due()
    thread = threading.Thread(target=drain, args=(upkeep, stop))
    thread.start()
    try:
        lines = list(ask(str(tmp_path), CLUSTER, ["topics", "partition_state", "no such table"]))
        assert list(ask(str(tmp_path), CLUSTER, ["topics"])) == [], "nothing was left to do"
    finally:
        stop.set()
        thread.join()
    assert {line.table for line in lines} == {"topics", "partition_state"}
    assert not [line for line in lines if line.is_error]
    left = {path.name for path in (tmp_path / CLUSTER).iterdir() if path.is_file()}
    assert not left & {REQUEST, ANSWER}


def test_a_stream_that_does_not_answer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_lake(tmp_path)
    monkeypatch.setattr("streaming.maintenance.requests.PATIENCE_S", 0.3)
    with pytest.raises(LakeError, match=r"did not answer.*readyz.*taken back"):
        list(ask(str(tmp_path), CLUSTER, ["topics"]))
    assert not (tmp_path / CLUSTER / REQUEST).exists()


def test_tables_are_looked_at_one_by_one_each_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_lake(tmp_path)
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    upkeep = Upkeep(str(tmp_path), CLUSTER, Policy(interval_s=3600, sample_days=0))
    assert not upkeep.is_due()
    seen = []
    for _ in TABLES:
        now += 20
        looked = upkeep.run_step()
        assert looked is not None
        seen.append(looked.table)
        while upkeep.is_due():
            upkeep.run_step()
    assert seen == [table.name for table in TABLES]
    now += 3599 - 20 * (len(TABLES) - 1)
    assert not upkeep.is_due()
    now += 1
    looked = upkeep.run_step()
    assert looked is not None
    assert (looked.table, looked.action, looked.says) == (TABLES[0].name, "look", "0 steps")


def test_a_step_that_fails_is_told_and_harms_nothing(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    before = read_all(tmp_path)
    step = MaintenanceStep("topics", "trim", "nonsense", where="no_such_column = 1")
    outcome = do_step(str(tmp_path), CLUSTER, step, FOREVER)
    assert outcome.is_error
    assert "no_such_column" in outcome.says
    assert read_all(tmp_path) == before
