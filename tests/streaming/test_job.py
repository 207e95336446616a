from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.table import Table
from streaming.job import Fold
from streaming.lake import Lake
from streaming.progress import read_progress
from streaming.warmup import frame_records
from tests.streaming.story import BORN_MS, Story
from zklake.errors import OtherLog
from zklake.events.envelope import Event, encode

# pyspark leaves the socket of every collect() to the garbage collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket")]

TOPIC = "zklake.c"


class Crash(Exception):
    """Stands for kill -9 between two tables."""


class CrashingLake(Lake):
    """Dies before znode_events is written."""

    def append(self, table: Table, rows: DataFrame, count: int) -> None:
        if table.name == "znode_events":
            raise Crash
        super().append(table, rows, count)


class Log:
    """A log in memory, folded from any offset as a stream that just started would."""

    def __init__(self, spark: SparkSession, lake: Path, values: Sequence[bytes]) -> None:
        self.spark, self.lake, self.values = spark, str(lake), list(values)
        Lake(spark, self.lake, "c").create_tables()

    def fold(self, *edges: int, lake: type[Lake] = Lake) -> None:
        """Start anew from the lake's watermark, and fold up to each of these offsets in turn."""
        progress = read_progress(self.lake, "c", TOPIC)
        fold = Fold(lake(self.spark, self.lake, "c"), progress)
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


def test_a_crash_between_two_tables_then_another_cut(spark: SparkSession, tmp_path: Path) -> None:
    story = Story().register(1, czxid=10).leave(1, czxid=10, zxid=20)
    story.register(1, czxid=30).register(2, czxid=31)
    story.begin_frame("f").read(1, czxid=30).end_frame("f", base="none")
    whole = Log(spark, tmp_path / "whole", encoded(story.events))
    whole.fold(len(story.events))
    wanted = whole.rows(BROKERS)
    assert [(row["broker_id"], row["ended_by"]) for row in wanted] == [
        (1, "deleted"),
        (1, None),
        (2, "resync"),
    ]

    log = Log(spark, tmp_path / "crashed", encoded(story.events))
    log.fold(2)
    with pytest.raises(Crash):
        log.fold(6, lake=CrashingLake)  # broker_membership is at 6, znode_events at 2
    assert len(log.rows(SEQS)) == 2
    log.fold(4, 8, 10)
    assert log.rows(BROKERS) == wanted
    assert (
        log.rows(SEQS)
        == whole.rows(SEQS)
        == [{"seq": 1000 + i, "kafka_offset": i} for i in range(10)]
    )

    versions = log.versions()
    log.fold(10)
    replay = Fold(Lake(spark, log.lake, "c"), read_progress(log.lake, "c", TOPIC))
    replay.fold_batch(frame_records(spark, log.values, TOPIC, 0))
    assert log.versions() == versions, "a replay must not write anything"

    for table in TABLES:
        protocol = DeltaTable(reading.table_path(log.lake, "c", table.name)).protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)


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
