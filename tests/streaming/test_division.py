"""The law for large batches: divided between tasks or folded by the driver, the rows are equal."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from msgspec import structs

from bench.records import make_records
from delta_tables import reading
from streaming.batch import Fold
from streaming.division import Division, Outcome, Work, merge
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.tasks import fold_part
from tests.streaming.lake.test_law_lake import (
    CLUSTER,
    TOPIC,
    Crash,
    CrashingLake,
    Kafka,
    compare,
    expect,
    expect_all,
    make_log,
)
from tests.streaming.story import Story
from zklake.events.envelope import Event, encode

PARTS = 3


def run_tasks(work: Work, values: Sequence[bytes], offset: int) -> list[Outcome]:
    """As Spark would: divided by the path as it is written, each part in any order."""
    parts: list[list[tuple[int, bytes, int]]] = [[] for _ in range(PARTS)]
    for number, value in enumerate(values, start=offset):
        path = re.search(rb'"path":"([^"]*)"', value)
        if re.search(rb'"op":"(gap|frame_begin|in_sync)"', value):
            for copy, part in enumerate(parts):
                part.append((number, value, copy))
        else:
            parts[zlib.crc32(path[1] if path else b"") % PARTS].append((number, value, -1))
    outcomes = []
    for part in parts:
        offsets, records, copies = zip(*part[::-1], strict=True) if part else ((), (), ())
        columns = {
            "offset": pa.array(offsets, pa.int64()),
            "value": pa.array(records, pa.binary()),
            "copy": pa.array(copies, pa.int32()),
        }
        outcome = fold_part(work, [pa.RecordBatch.from_pydict(columns)] if part else [])
        outcomes.append(send(outcome))
    return outcomes


def send(outcome: Outcome) -> Outcome:
    """They travel as bytes."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(outcome), type=Outcome)


class DividedKafka(Kafka):
    """The log, folded in tasks wherever a batch can be divided."""

    divided = 0
    refusals: set[str]

    def fold(self, size: int, lake: Lake | None = None, most: int = 1_000) -> None:
        self.refusals = set()
        progress = read_progress(self.path, CLUSTER, TOPIC)
        fold = Fold(lake or Lake(self.path, CLUSTER), progress, TOPIC)
        starts = range(progress.offset or 0, len(self.values), size)
        for start in starts[:most]:
            self._fold_batch(fold, self.values[start : start + size], start)
        if len(starts) <= most:
            fold.finish()

    def run_tasks(self, work: Work, values: Sequence[bytes], offset: int) -> list[Outcome]:
        return run_tasks(work, values, offset)

    def _fold_batch(self, fold: Fold, values: Sequence[bytes], offset: int) -> None:
        work = fold.divide()
        division: Division | str = "it is not asked for"
        if work is not None:
            division = merge(self.run_tasks(work, values, offset))
        if isinstance(division, str):
            self.refusals.add(division)
        elif fold.fold_division(division):
            self.divided += 1
            return
        fold.fold_batch(make_records(values, offset))


def make_unbroken(seed: int, length: int) -> list[Event]:
    """A generated log without holes."""
    events = make_log(seed, length)
    return [structs.replace(event, seq=1_000 + number) for number, event in enumerate(events)]


@pytest.mark.parametrize("seed", range(6))
def test_every_batch_of_an_unbroken_log_is_divided(seed: int, tmp_path: Path) -> None:
    """Also those with gaps and frames."""
    events = make_unbroken(seed, 140)
    assert {event.op for event in events} >= {"gap", "frame_begin", "in_sync"}
    kafka = DividedKafka(tmp_path, events)
    kafka.fold(len(events) // 3)
    assert kafka.divided >= 3
    assert kafka.refusals == set()
    for name, rows in expect(events).items():
        assert kafka.read(name) == rows, name
    driver = Kafka(tmp_path / "driver", events)
    driver.fold(40)
    assert read_events(kafka) == read_events(driver)


def read_events(kafka: Kafka) -> list[dict[str, Any]]:
    rows = reading.read_rows(kafka.path, CLUSTER, "SELECT * FROM znode_events ORDER BY seq")
    return [{name: row[name] for name in row if name != "ingested_at"} for row in rows]


@pytest.mark.parametrize("size", [7, 12])
def test_a_batch_with_a_hole_is_left_to_the_driver(size: int, tmp_path: Path) -> None:
    events, wanted = expect_all(8, 140)
    assert any(after.seq > before.seq + 1 for before, after in pairwise(events))
    kafka = DividedKafka(tmp_path, events)
    kafka.fold(size)
    assert kafka.divided > len(events) / size / 2
    assert kafka.refusals == {"its seq has a hole, or repeats itself"}
    compare(kafka, wanted)


@pytest.mark.parametrize("victim", ["partition_state", "consumer_offsets", "znode_events"])
def test_a_crash_in_the_middle_of_a_division(victim: str, tmp_path: Path) -> None:
    events = make_unbroken(3, 300)
    kafka = DividedKafka(tmp_path, events)
    kafka.fold(50, most=1)
    lake = CrashingLake(kafka.path, CLUSTER)
    lake.victim = victim
    with pytest.raises(Crash):
        kafka.fold(50, lake)
    kafka.fold(35)
    assert kafka.divided > 1, kafka.refusals
    for name, rows in expect(events).items():
        assert kafka.read(name) == rows, name


def _make_brokers() -> list[bytes]:
    story = Story().register(1, czxid=10).leave(1, czxid=10, zxid=20).register(1, czxid=30)
    return [encode(structs.replace(event, cluster=CLUSTER)) for event in story.events]


@pytest.mark.parametrize(
    ("strange", "reason"),
    [
        (b"{}", "no event of this log"),
        (b"\xff", "no event of this log"),
        (b'"path":"/controller"', "no event of this log"),
        (
            encode(Event(CLUSTER, "another", 7, "set", 5, path="/controller_epoch")),
            "no event of this log|several logs",
        ),
        (
            encode(Event(CLUSTER, "log", 7, "set", 5, path='/a"b')),
            "written in an unusual way|no event of this log|several logs",
        ),
        (
            encode(Event(CLUSTER, "log", 7, "set", 5, path="/b")).replace(b"/b", b"\\u002fb"),
            "written in an unusual way|no event of this log|several logs",
        ),
        (encode(Event(CLUSTER, "log", 7, "set", 5, path="/b")), "hole|several logs"),
    ],
)
def test_a_strange_record_leaves_the_batch_to_the_driver(
    strange: bytes, reason: str, tmp_path: Path
) -> None:
    Lake(str(tmp_path), CLUSTER).create_tables()
    progress = read_progress(str(tmp_path), CLUSTER, TOPIC)
    work = Fold(Lake(str(tmp_path), CLUSTER), progress, TOPIC).divide()
    assert work is not None
    values = [*_make_brokers(), strange]
    refusal = merge(run_tasks(work, values, 0))
    assert isinstance(refusal, str)
    assert re.search(reason, refusal), refusal


def test_nothing_is_divided_where_an_event_was_set_aside(tmp_path: Path) -> None:
    Lake(str(tmp_path), CLUSTER).create_tables()
    progress = read_progress(str(tmp_path), CLUSTER, TOPIC)
    fold = Fold(Lake(str(tmp_path), CLUSTER), progress, TOPIC, unfoldable={7: "why"})
    assert fold.divide() is None
