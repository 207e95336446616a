from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable, QueryBuilder
from pyspark.sql import SparkSession

from lab.cluster import Cluster
from streaming.session import check_versions
from zklake.errors import JarError


def test_another_pyspark_is_refused_with_the_fix() -> None:
    with pytest.raises(JarError, match=r"pyspark 3\.5\.0 is needed.*pip install pyspark==3\.5\.0"):
        check_versions((("pyspark", "3.5.0"),))
    with pytest.raises(JarError, match="none is installed"):
        check_versions((("no-such-package", "1"),))


def fill_topic(cluster: Cluster, values: list[bytes]) -> str:
    topic = f"t-{uuid.uuid4().hex[:8]}"
    cluster.create_topic(topic)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value)
    producer.commit_transaction(30)
    return topic


@pytest.mark.spark
@pytest.mark.integration
def test_a_topic_becomes_a_delta_table_that_deltalake_reads(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    topic = fill_topic(cluster, [b"one", b"two", b"three"])
    table = tmp_path / "table"
    stream = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", cluster.bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("kafka.isolation.level", "read_committed")
        .option("kafka.fetch.max.wait.ms", "10")
        .load()
        .selectExpr("CAST(value AS STRING) AS value", "offset", "timestamp")
    )
    query = (
        stream.writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(table))
    )
    try:
        assert query.awaitTermination(120)
    finally:
        query.stop()

    delta = DeltaTable(str(table))
    assert delta.protocol().min_reader_version == 1
    query_text = "SELECT offset, value FROM t ORDER BY offset"
    rows = QueryBuilder().register("t", delta).execute(query_text).read_all()
    assert rows.column("offset").to_pylist() == [0, 1, 2]
    assert rows.column("value").to_pylist() == ["one", "two", "three"]
    assert list(tmp_path.rglob(".*.crc")) == []


@pytest.mark.spark
def test_time_is_utc_everywhere(spark: SparkSession) -> None:
    row = spark.sql(
        "SELECT timestamp '2026-11-16 03:12:00' AS t, current_timezone() AS zone"
    ).first()
    assert row is not None
    assert row["t"].isoformat() == "2026-11-16T03:12:00"
    assert row["zone"] == "UTC"
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    assert jvm.java.util.TimeZone.getDefault().getID() == "UTC"


@pytest.mark.spark
def test_python_workers_are_of_this_python_and_no_warehouse_stands_here(
    spark: SparkSession,
) -> None:
    version = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).first()
    assert version == sys.executable
    warehouse = spark.conf.get("spark.sql.warehouse.dir")
    assert warehouse is not None
    assert "zklake-spark-" in warehouse
    assert not warehouse.removeprefix("file:").startswith(str(Path.cwd()))
