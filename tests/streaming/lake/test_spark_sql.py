"""The tables through Spark's own Delta: read, changed and maintained by SQL, and folded on."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.records import make_records
from delta_tables import reading
from streaming.batch import Fold
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from tests.streaming.story import Story
from tests.streaming.test_batch import TOPIC, Log, encoded

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket")]


def test_spark_reads_and_writes_what_the_stream_folds(spark: SparkSession, tmp_path: Path) -> None:
    story = Story().register(1, czxid=10).leave(1, czxid=10, zxid=20).register(1, czxid=30)
    story.register(2, czxid=40)
    log = Log(tmp_path, encoded(story.events))
    log.fold(3, 5)
    brokers = f"delta.`{reading.table_path(log.lake, 'c', 'broker_membership')}`"
    held = spark.sql(f"SELECT broker_id, czxid, is_open, endpoints FROM {brokers} ORDER BY czxid")
    assert [tuple(row) for row in held.collect()] == [
        (1, 10, False, ["PLAINTEXT://k1:9092"]),
        (1, 30, True, ["PLAINTEXT://k1:9092"]),
    ]
    (events,) = (
        spark.read.format("delta")
        .load(reading.table_path(log.lake, "c", "znode_events"))
        .selectExpr("max(seq)", "count(stat.czxid)")
        .collect()
    )
    assert tuple(events) == (story.events[4].seq, 5)
    # Somebody moves the closed rows into other files, and adds a table property.
    spark.sql(f"OPTIMIZE {brokers} WHERE is_open = false")
    spark.sql(f"ALTER TABLE {brokers} SET TBLPROPERTIES ('delta.logRetentionDuration' = '9 days')")
    log.fold(len(log.values))
    held = spark.sql(f"SELECT broker_id, czxid FROM {brokers} WHERE is_open ORDER BY broker_id")
    assert [tuple(row) for row in held.collect()] == [(1, 30), (2, 40)]
    # A row by hand: it is one of the table's, and the stream goes on beside it.
    spark.sql(f"UPDATE {brokers} SET rack = 'az-b' WHERE NOT is_open")
    assert log.rows("SELECT rack FROM broker_membership WHERE NOT is_open") == [{"rack": "az-b"}]
    fold = Fold(Lake(log.lake, "c"), read_progress(log.lake, "c", TOPIC), TOPIC)
    known = len(story.events)
    story.leave(2, czxid=40, zxid=50)
    fold.fold_batch(make_records(encoded(story.events[known:]), known))
    fold.finish()
    counts = spark.sql(f"SELECT is_open, count(*) FROM {brokers} GROUP BY 1 ORDER BY 1").collect()
    assert [tuple(row) for row in counts] == [(False, 2), (True, 1)]
