from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from deltalake import DeltaTable, QueryBuilder

from bench.aged_lake import World
from bench.aged_lake.history import select_events
from bench.aged_lake.series import list_series
from bench.aged_lake.things import list_things
from delta_tables import reading
from delta_tables.asking.stats import measure_lake
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from streaming.fold.cluster_state import ClusterState
from streaming.fold.controller import ControllerFold
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.recalling import Recollection
from streaming.fold.rules import Rules
from streaming.lake.past_rows import read_ms
from streaming.lake.progress import read_progress
from tests.aged import CLUSTER, TINY, copy_lake, read_all


def tell(seed: int) -> list[tuple[Any, ...]]:
    world = World(CLUSTER, seed, TINY)
    told = QueryBuilder().execute(f"SELECT * FROM ({select_events(world, list_things(world))})")
    return sorted(
        zip(*(column.to_pylist() for column in told.read_all().columns), strict=True),
        key=lambda row: row[2],
    )


def test_equal_seeds_tell_equal_logs_and_others_do_not() -> None:
    assert tell(1) == tell(1)
    assert [row[6] for row in tell(1)] != [row[6] for row in tell(2)]


def test_rows_follow_one_another_without_hole_or_overlap(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    rows = read_all(tmp_path)
    for table in (TABLE_BY_NAME[name] for name in ("partition_state", "consumer_offsets")):

        def key(row: dict[str, object], names: tuple[str, ...] = table.key) -> str:
            return repr([row[name] for name in names])

        for _, group in groupby(sorted(rows[table.name], key=key), key=key):
            lives = sorted(group, key=lambda row: row["valid_from_seq"])
            ends = [row["valid_to_seq"] for row in lives]
            assert ends[:-1] == [row["valid_from_seq"] for row in lives[1:]]
            assert [row["is_open"] for row in lives] == [False] * (len(lives) - 1) + [True]


def test_series_fill_the_tables_that_no_znode_of_the_log_makes(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    rows = read_all(tmp_path)
    made = {"log_gaps", "controller", "admin_operations", "config_history"}
    made |= {"log_ends", "offset_lag", "rebalances"}
    assert {series.table.name for series in list_series(world)} == made
    for series in list_series(world):
        name, days = series.table.name, world.size.days
        assert len(rows[name]) == series.count * series.per_day * days, name
        open_rows = [row for row in rows[name] if row["is_open"]]
        assert len(open_rows) == (series.count if series.lasts_ms is None else 0), name
        assert {row["ended_by"] for row in rows[name]} <= {*series.table.ends, None}, name
        closed = [row for row in rows[name] if not row["is_open"]]
        assert all(row["valid_from_at"] < row["valid_to_at"] for row in closed), name
        assert all(row["closed_on"] == row["valid_to_at"].date() for row in closed), name
        dates = {row["valid_from_at"].date() for row in rows[name]}
        assert (len(dates), max(dates)) == (days, world.last_day), name
    lags = [row["lag"] for row in rows["offset_lag"]]
    assert min(lags) == 0
    assert max(lags) > 1000


def test_the_driver_remembers_an_aged_lake(tmp_path: Path) -> None:
    """What open rows remember is such that a stream can read it."""
    world = copy_lake(tmp_path)
    tables = reading.open_tables(str(tmp_path), CLUSTER)
    lag = read_ms(tables, TABLE_BY_NAME["offset_lag"], "is_open")
    known = Recollection(world.last_seq, world.last_seq, lag_rows=lag)
    fold = LagFold.recall(CLUSTER, Rules().thresholds, ClusterState(), known)
    assert isinstance(fold, LagFold)
    reigns = read_ms(tables, TABLE_BY_NAME["controller"], "is_open")
    held, _ = ControllerFold(CLUSTER, reigns).take()
    assert held[0]["controller_id"] is not None


def test_a_stream_could_go_on_with_it(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    progress = read_progress(str(tmp_path), CLUSTER, f"zklake.{CLUSTER}")
    assert (progress.log_id, progress.seq) == (world.log_id, world.last_seq)
    assert progress.offset == world.last_offset + 1
    for table in TABLES:
        delta = DeltaTable(reading.table_path(str(tmp_path), CLUSTER, table.name))
        protocol = delta.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
        assert [field.name for field in delta.schema().fields] == list(table.names)
        assert delta.metadata().partition_columns == list(table.partition_by)
        marker = reading.read_marker(str(tmp_path), CLUSTER, table.name, world.log_id)
        assert marker in (-1, world.last_seq)


def test_stats_tell_what_is_there(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    found = measure_lake(str(tmp_path), CLUSTER)
    assert (found.log_id, found.watermark) == (world.log_id, world.last_seq)
    rows = read_all(tmp_path)
    for stats in found.tables:
        delta = DeltaTable(reading.table_path(str(tmp_path), CLUSTER, stats.table))
        files = [Path(uri.removeprefix("file://")) for uri in delta.file_uris()]
        assert stats.files == len(files)
        assert stats.bytes == sum(file.stat().st_size for file in files)
        assert stats.rows == len(rows[stats.table])
        if TABLE_BY_NAME[stats.table].is_interval:
            assert stats.open_rows == sum(row["is_open"] for row in rows[stats.table])
        log = tmp_path / CLUSTER / stats.table / "_delta_log"
        assert stats.commits == len(list(log.glob("*.json")))
        assert stats.log_files == sum(path.is_file() for path in log.iterdir())
    busy = {stats.table: stats for stats in found.tables}["partition_state"]
    assert busy.commits == TINY.commits + 2
    last = found.watermark_at
    assert last is not None
    assert last.date() == world.last_day


def test_a_vacuum_finds_what_died_before_the_last_hours(tmp_path: Path) -> None:
    """Also when a checkpoint has forgotten them: then files must be as old as they are told."""
    world = copy_lake(tmp_path)
    path = reading.table_path(str(tmp_path), CLUSTER, "partition_state")
    DeltaTable(path).alter.set_table_properties(
        dict.fromkeys(
            ("delta.logRetentionDuration", "delta.deletedFileRetentionDuration"), "interval 2 hours"
        )
    )
    DeltaTable(path).create_checkpoint()
    dead = DeltaTable(path).vacuum(2, dry_run=True, enforce_retention_duration=False, full=True)
    died = [name for name in dead if name.endswith(".parquet")]
    # The commits are spread over a day.
    assert 0.9 < len(died) / (world.size.commits * 22 / 24) <= 1
