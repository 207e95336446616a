from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from pyspark.sql import SparkSession

from delta_tables import reading
from lab.cluster import Cluster
from streaming.backfill import Backfill
from streaming.daemon import run_once
from streaming.fold.rules import Rules
from streaming.lake.events import read_all
from streaming.lake.lake import Lake
from streaming.query import Stream
from streaming.remaking import remake_tables
from tests.streaming.story import Story
from tests.streaming.topic import Topic
from zklake.errors import LakeError, LogError, OtherLog
from zklake.events.envelope import TXNLOG_ID

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]


def test_a_broker_is_killed_and_comes_back(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    topic = Topic(cluster.bootstrap)
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path))
    lives = "SELECT broker_id, czxid, ended_by FROM broker_membership ORDER BY valid_from_seq"
    first = {"broker_id": 1, "czxid": 10, "ended_by": None}

    story = Story().register(1, czxid=10)
    topic.write(story.events)
    topic.write(Story().register(7, czxid=99).events, abort=True)
    assert run_once(spark, stream).events == 2
    assert reading.read_rows(str(tmp_path), "c", lives) == [first]

    # Every start has a checkpoint of its own, so this is also a lost checkpoint.
    assert run_once(spark, stream).events == 0
    known = len(story.events)
    story.leave(1, czxid=10, zxid=20).register(1, czxid=30)
    topic.write(story.events[known:])
    assert run_once(spark, stream).events == 3
    wanted = [{**first, "ended_by": "deleted"}, {"broker_id": 1, "czxid": 30, "ended_by": None}]
    assert reading.read_rows(str(tmp_path), "c", lives) == wanted
    seqs = reading.read_rows(str(tmp_path), "c", "SELECT seq FROM znode_events ORDER BY seq")
    assert [row["seq"] for row in seqs] == [event.seq for event in story.events]


def test_a_topic_that_is_not_there_is_named(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    stream = Stream(cluster.bootstrap, "zklake.nowhere", "c", str(tmp_path))
    with pytest.raises(LogError, match=r"zklake\.nowhere.*zklake watch"):
        run_once(spark, stream)


def test_a_log_trimmed_past_the_lake_stops_the_fold(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    topic = Topic(cluster.bootstrap)
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path))
    story = Story().register(1, czxid=10)
    topic.write(story.events)
    run_once(spark, stream)
    topic.write(story.leave(1, czxid=10, zxid=20).events[-1:])
    topic.write(story.register(1, czxid=30).events[-2:])
    topic.trim(5)
    with pytest.raises(LakeError, match="no longer holds what follows offset 1"):
        run_once(spark, stream)


def test_another_log_is_refused_until_it_is_accepted(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    old, new = Topic(cluster.bootstrap), Topic(cluster.bootstrap)
    old.write(Story().register(1, czxid=10).events)
    run_once(spark, Stream(cluster.bootstrap, old.name, "c", str(tmp_path)))
    story = Story("c", "log-2").begin_frame("f").read(1, czxid=30).end_frame("f", "none")
    later = [structs.replace(event, seq=event.seq + 5000) for event in story.events]
    new.write(later)
    stream = Stream(cluster.bootstrap, new.name, "c", str(tmp_path))
    with pytest.raises(OtherLog, match=r"offset 1 holds seq 6001 of log log-2.*--accept-log"):
        run_once(spark, stream)
    assert run_once(spark, replace(stream, accept_log=True)).events == 3
    assert run_once(spark, stream).events == 0, "it is the lake's own log now"
    seqs = reading.read_rows(str(tmp_path), "c", "SELECT log_id, seq FROM znode_events")
    assert {("log-1", 1000), ("log-1", 1001), ("log-2", 6000), ("log-2", 6002)} <= {
        (row["log_id"], row["seq"]) for row in seqs
    }
    sql = "SELECT czxid FROM broker_membership WHERE is_open"
    assert reading.read_rows(str(tmp_path), "c", sql) == [{"czxid": 30}]


def test_any_log_follows_a_past_that_was_read_from_files(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    lake = Lake(str(tmp_path), "c")
    past = Story("c", TXNLOG_ID).begin_frame("f").read(1, czxid=10).end_frame("f", "none")
    backfill = Backfill(lake)
    backfill.append([structs.replace(e, origin="txnlog") for e in past.events], zxid=20)
    remake_tables(lake, lambda _: None, Rules(), None)
    topic = Topic(cluster.bootstrap)
    story = Story("c", "log-1").begin_frame("g").read(1, czxid=10).end_frame("g", "none")
    topic.write([structs.replace(event, seq=event.seq + 5000) for event in story.events])
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path))
    assert run_once(spark, stream).events == 3
    assert run_once(spark, stream).events == 0, "it is the lake's own log now"
    sql = "SELECT valid_from_seq, seen_seq FROM broker_membership"
    assert reading.read_rows(str(tmp_path), "c", sql) == [
        {"valid_from_seq": 1001, "seen_seq": 6001}
    ]


def test_bad_records_of_a_re_created_topic_are_set_aside_too(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Topic(cluster.bootstrap)
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path))
    old = Story().register(1, czxid=10).alter(1, czxid=10, version=2, zxid=11, port=9093)
    newer = structs.replace(old.events[2], v=2)
    topic.write([*old.events[:2], b"old 2", b"old 3", b"old 4", newer])
    run_once(spark, stream)

    topic.recreate()
    story = Story("c", "log-2").begin_frame("f").read(1, czxid=30).end_frame("f", "none")
    story.alter(1, czxid=30, version=2, zxid=31, port=9093).leave(1, czxid=30, zxid=40)
    later = [structs.replace(event, seq=event.seq + 5000) for event in story.events]
    later[3] = structs.replace(later[3], v=2)
    topic.write([*later[:3], b"new 3"])
    run_once(spark, replace(stream, accept_log=True))
    # Offset 4 is the marker of a transaction.
    topic.write([*later[3:4], b"new 6", *later[4:]])
    for _ in range(2):
        run_once(spark, stream)

    sql = "SELECT kafka_offset, record FROM quarantine ORDER BY ingested_at, kafka_offset"
    found = [
        (row["kafka_offset"], bytes(row["record"]).decode())
        for row in reading.read_rows(str(tmp_path), "c", sql)
    ]
    assert [(offset, text) for offset, text in found if "{" not in text] == [
        *((2, "old 2"), (3, "old 3"), (4, "old 4")),
        *((3, "new 3"), (6, "new 6")),
    ]
    # At the same offset as in the log before: both are kept, and both would take their places.
    assert [offset for offset, text in found if "{" in text] == [5, 5]
    with monkeypatch.context() as patch:
        patch.setattr("streaming.log.records.VERSION", 2)
        healed = {
            (entry.event.log_id, entry.event.seq)
            for entry in read_all(str(tmp_path), "c", 10_000)
            if entry.event.v == 2
        }
    assert healed == {("log-1", 1002), ("log-2", 6003)}
