"""The law for a rebuild: in tasks or by the driver alone, the tables are equal."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec import structs
from pyspark.sql import SparkSession

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.division import Outcome, Work
from streaming.event_tasks import EventTasks
from streaming.fold.group_folds import ZNODE_OPS
from streaming.fold.part import PART_KINDS, PART_NAMES, WHOLE_OPS, PartStart
from streaming.lake.events import Stretch, make_entries, read_rows
from streaming.lake.horizon import read_horizon
from streaming.lake.lake import Lake
from streaming.lake.writer import Mark, Replacement
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import maintain
from streaming.rebuild import Tasks, check_names, rebuild
from streaming.tasks import fold_event_rows, fold_in_tasks
from tests.streaming.lake.test_law_lake import (
    CLUSTER,
    TOPIC,
    Crash,
    Kafka,
    compare,
    expect_all,
    make_log,
)
from tests.streaming.test_division import PARTS, DividedKafka, make_unbroken, send
from zklake.errors import LakeError
from zklake.events.envelope import Event, encode
from zklake.settings.models import StreamSettings

Row = dict[str, Any]
TODAY = datetime.now(UTC).replace(hour=12)


class LocalTasks:
    """As Spark would: divided by path, each part in any order."""

    def __init__(self, lake: str) -> None:
        self._lake = lake
        self.stretches: list[Stretch] = []

    def __call__(self, start: PartStart, stretch: Stretch) -> list[Outcome]:
        self.stretches.append(stretch)
        found = read_rows(self._lake, CLUSTER, stretch.after_seq, stretch.last_seq)
        rows = pa.concat_tables(found)
        values = [encode(entry.event) for entry in make_entries(rows)]
        rows = rows.append_column("value", pa.array(values, pa.binary()))
        return [send(fold_event_rows(start, part)) for part in self._divide(rows)]

    def _divide(self, rows: pa.Table) -> list[list[pa.RecordBatch]]:
        places: list[list[int]] = [[] for _ in range(PARTS)]
        columns = zip(*(rows[name].to_pylist() for name in ("op", "kind", "path")), strict=True)
        for number, (op, kind, path) in enumerate(columns):
            if op in WHOLE_OPS:
                for part in places:
                    part.append(number)
            elif op in ZNODE_OPS and kind in PART_KINDS:
                places[zlib.crc32((path or "").encode()) % PARTS].append(number)
        return [rows.take(pa.array(part[::-1], pa.int64())).to_batches() for part in places]


def remake(lake: str, size: int | None = None, names: Sequence[str] = ()) -> LocalTasks:
    """Rebuild by the driver alone, or with stretches of that size in tasks."""
    run = LocalTasks(lake)
    tasks = None if size is None else Tasks(run, large=1, stretch_rows=size)
    rebuild(Lake(lake, CLUSTER), check_names(names), TOPIC, lambda _: None, tasks=tasks)
    return run


def read_lake(kafka: Kafka) -> dict[str, list[Row]]:
    return {name: kafka.read(name) for name in check_names(())}


@pytest.mark.parametrize("size", [9, 25, 1_000])
def test_a_log_with_gaps_frames_and_holes(size: int, tmp_path: Path) -> None:
    events, wanted = expect_all(8, 140)
    kafka = Kafka(tmp_path, events)
    kafka.fold(35)
    run = remake(kafka.path, size)
    rows = reading.read_rows(kafka.path, CLUSTER, "SELECT count(*) AS n FROM znode_events")
    assert [each.rows for each in run.stretches[:-1]] == [size] * ((rows[0]["n"] - 1) // size)
    compare(kafka, wanted)
    # And what was rebuilt goes on.
    kafka.fold(35)
    compare(kafka, wanted)


def count_ends(kafka: Kafka, word: str) -> int:
    return sum(row["ended_by"] == word for name in PART_NAMES for row in kafka.read(name))


def test_frames_end_rows_whether_or_not_their_znodes_have_events(tmp_path: Path) -> None:
    """Of several logs, or none of them might have such a frame in the middle of a stretch."""
    resyncs = 0
    for seed in (1, 2, 3):
        kafka = Kafka(tmp_path / str(seed), make_log(seed, 200))
        kafka.fold(60)
        before = read_lake(kafka)
        remake(kafka.path, 40)
        assert read_lake(kafka) == before, seed
        resyncs += count_ends(kafka, "resync")
    assert resyncs > 5


def spread_over_days(events: Sequence[Event]) -> list[Event]:
    """The same log, observed over nine days."""
    first, each = TODAY - timedelta(days=9), timedelta(days=9) / len(events)
    return [
        structs.replace(event, observed_at_ms=round((first + number * each).timestamp() * 1000))
        for number, event in enumerate(events)
    ]


def test_a_trimmed_lake_where_each_table_begins_at_its_own_horizon(tmp_path: Path) -> None:
    horizons, behind = set(), 0
    for seed in (0, 3):
        kafka = Kafka(tmp_path / str(seed), spread_over_days(make_log(seed, 240)))
        kafka.fold(60)
        before = read_lake(kafka)
        policy = Policy(sample_days=2, retention_days={"znode_events": 5})
        assert not [
            o for o in maintain(kafka.path, CLUSTER, ["znode_events"], policy) if o.is_error
        ]
        lake = Lake(kafka.path, CLUSTER)
        horizons |= {read_horizon(lake, TABLE_BY_NAME[name]) for name in PART_NAMES}
        behind += sum(
            row["is_open"] and row["valid_from_seq"] <= read_horizon(lake, TABLE_BY_NAME[name])
            for name in PART_NAMES
            for row in before[name]
        )
        remake(kafka.path)
        driver = read_lake(kafka)
        assert {name: driver[name] for name in PART_NAMES} == {n: before[n] for n in PART_NAMES}
        assert remake(kafka.path, 20).stretches
        assert read_lake(kafka) == driver, seed
    assert len(horizons - {-1}) > 2
    assert behind, "no row stood at its horizon"


def test_a_crash_in_the_middle_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = Kafka(tmp_path, make_log(2, 140))
    kafka.fold(60)
    before, commit = read_lake(kafka), Replacement.commit
    committed: list[Mark] = []

    def die(self: Replacement, mark: Mark, undone: Iterable[str]) -> None:
        if len(committed) == 3:
            raise Crash
        committed.append(mark)
        commit(self, mark, undone)

    monkeypatch.setattr(Replacement, "commit", die)
    with pytest.raises(Crash):
        remake(kafka.path, 20)
    assert read_lake(kafka) == before
    monkeypatch.undo()
    remake(kafka.path, 30)
    assert read_lake(kafka) == before
    kafka.fold(60)
    assert read_lake(kafka) == before


def test_tasks_are_asked_only_for_what_they_can_make(tmp_path: Path) -> None:
    kafka = Kafka(tmp_path, make_log(4, 100))
    kafka.fold(60)
    before = read_lake(kafka)
    assert not remake(kafka.path, 20, ["rebalances", "topics"]).stretches
    assert remake(kafka.path, 20, ["partition_state"]).stretches
    run = LocalTasks(kafka.path)
    place = Lake(kafka.path, CLUSTER)
    rebuild(place, check_names(()), TOPIC, lambda _: None, tasks=Tasks(run, large=1_000))
    assert not run.stretches, "so few events take no tasks"
    assert read_lake(kafka) == before


def test_what_a_task_cannot_fold_is_said(tmp_path: Path) -> None:
    kafka = Kafka(tmp_path, make_log(4, 60))
    kafka.fold(60)
    before = read_lake(kafka)

    def fail(start: PartStart, stretch: Stretch) -> list[Outcome]:
        return [Outcome(), Outcome(refusal=f"{start.cluster} at {stretch.last_seq}")]

    place = Lake(kafka.path, CLUSTER)
    with pytest.raises(LakeError, match=f"in Spark tasks: {CLUSTER} at"):
        rebuild(place, check_names(()), TOPIC, lambda _: None, tasks=Tasks(fail, large=1))
    assert read_lake(kafka) == before


@pytest.mark.spark
def test_spark_makes_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Of batches and of a rebuild; every task must be told of gaps and frames."""
    events = make_unbroken(5, 300)
    kafka, driver = SparkKafka(tmp_path / "tasks", events), Kafka(tmp_path / "driver", events)
    kafka.spark = spark
    kafka.fold(120)
    driver.fold(70)
    wanted = read_lake(driver)
    assert kafka.divided == 3, kafka.refusals
    assert read_lake(kafka) == wanted
    lake = Lake(kafka.path, CLUSTER)
    tasks = Tasks(EventTasks(lake, StreamSettings()), large=1, stretch_rows=130)
    rebuild(lake, check_names(()), TOPIC, lambda _: None, tasks=tasks)
    assert read_lake(kafka) == wanted
    assert count_ends(kafka, "resync")


class SparkKafka(DividedKafka):
    """The log, folded in tasks of Spark's."""

    spark: SparkSession

    def run_tasks(self, work: Work, values: Sequence[bytes], offset: int) -> list[Outcome]:
        rows = [*enumerate(map(bytearray, values), start=offset)]
        batch = self.spark.createDataFrame(rows[::-1], "offset bigint, value binary")
        return fold_in_tasks(self.spark, batch, work)
