from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from delta_tables import reading
from streaming.job import Fold
from streaming.lake import Lake
from streaming.progress import read_progress
from streaming.warmup import frame_records
from tests.streaming.story import BORN_MS, Story
from zklake.errors import OtherLog
from zklake.events.envelope import Event, encode
from zklake.events.samples import Commit, GroupCommits

# pyspark leaves the socket of every collect() to the garbage collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket")]

TOPIC = "zklake.c"


class Log:
    """A log in memory, folded from any offset as a stream that just started would."""

    def __init__(self, spark: SparkSession, lake: Path, values: Sequence[bytes]) -> None:
        self.spark, self.lake, self.values = spark, str(lake), list(values)
        Lake(spark, self.lake, "c").create_tables()

    def fold(self, *edges: int) -> None:
        """Start anew from the lake's watermark, and fold up to each of these offsets in turn."""
        progress = read_progress(self.lake, "c", TOPIC)
        fold = Fold(Lake(self.spark, self.lake, "c"), progress)
        start = progress.offset or 0
        for edge in edges:
            values = self.values[start:edge]
            fold.fold_batch(frame_records(self.spark, values, TOPIC, start))
            start = edge

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return reading.read_rows(self.lake, "c", sql)

    def versions(self) -> dict[str, int]:
        return {name: t.version() for name, t in reading.open_tables(self.lake, "c").items()}


def encoded(events: Sequence[Event]) -> list[bytes]:
    return [encode(event) for event in events]


BROKERS = "SELECT * FROM broker_membership ORDER BY valid_from_seq"
SEQS = "SELECT seq, kafka_offset FROM znode_events ORDER BY seq"


def test_bad_records_heartbeats_and_another_log(spark: SparkSession, tmp_path: Path) -> None:
    story = Story().register(1, czxid=10)
    for _ in range(150):
        story.add(op="heartbeat", path="/")
    bad = [
        b"not json",
        b"\xff\xfe",
        b'{"cluster":"c","log_id":"log-1","op":"set","observed_at_ms":1}',
        b'{"v":2,"cluster":"c","log_id":"log-1","seq":1,"op":"set","observed_at_ms":1}',
        b'{"cluster":"d","log_id":"log-1","seq":1,"op":"set","observed_at_ms":1}',
        b'{"cluster":"c","log_id":"log-1","seq":"many","op":"set","observed_at_ms":1}',
        b"",
    ]
    log = Log(spark, tmp_path, [*bad, *encoded(story.events)])
    log.fold(4, 60, 61, 100)
    log.fold(len(log.values))

    quarantine = log.rows("SELECT kafka_offset, reason, record FROM quarantine ORDER BY 1")
    assert [row["kafka_offset"] for row in quarantine] == list(range(len(bad)))
    assert [bytes(row["record"]) for row in quarantine] == bad
    reasons = [row["reason"] for row in quarantine]
    assert reasons[2] == "lacks seq"
    assert "version 2 is newer" in reasons[3]
    assert reasons[4] == "of another cluster: d"

    beats = log.rows("SELECT observed_at_ms FROM znode_events WHERE op = 'heartbeat' ORDER BY seq")
    seconds = [BORN_MS // 1000 + 2 + i for i in range(150)]
    firsts = [seconds[0]] + [s for s in seconds[1:] if s % 60 == 0]
    assert [row["observed_at_ms"] // 1000 for row in beats] == firsts
    assert log.rows("SELECT count(*) AS n FROM broker_membership") == [{"n": 1}]

    other = Story(log_id="log-2")
    other.events = story.events[:]
    log.values += encoded(other.register(2, czxid=50).events[-2:])
    with pytest.raises(OtherLog, match=r"log-1.*log-2"):
        log.fold(len(log.values))


def test_a_batch_is_compiled_for_its_rows_not_its_records(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streaming.codegen._WORTH_COMPILING", 10)
    told = [
        GroupCommits(tuple(Commit("g", "t", each, 7) for each in range(count))) for count in (8, 9)
    ]
    events = [
        Event("c", "log-1", seq, "group_commit", BORN_MS, group_commit=commits)
        for seq, commits in enumerate(told, 1)
    ]
    log = Log(spark, tmp_path, encoded(events))
    for edge, is_compiled in ((1, "false"), (2, "true")):
        log.fold(edge)
        assert spark.conf.get("spark.sql.codegen.wholeStage") == is_compiled
    assert log.rows("SELECT count(*) AS n FROM consumer_offsets") == [{"n": 9}]


def test_spark_does_not_keep_the_plans_of_former_batches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_held(batches_held: int) -> int:
        """What Python has forgotten, and Spark still holds."""
        monkeypatch.setattr("streaming.memory._BATCHES_HELD", batches_held)
        story = Story().register(1, czxid=10)
        for number in range(3):
            story.register(2 + number, czxid=20 + number)
        log = Log(spark, tmp_path / str(batches_held), encoded(story.events))
        gc.collect()
        before = count_objects()
        log.fold(*range(2, len(log.values) + 1, 2))
        return count_objects() - before

    def count_objects() -> int:
        return sum(isinstance(each, JavaObject) for each in gc.get_objects())

    gc.disable()
    try:
        assert 2 * count_held(2) < count_held(1000)
    finally:
        gc.enable()
