"""How fast a log that is already there is folded on a standalone Spark cluster, by its workers.

The cluster, its driver, and the log's Kafka share this machine's cores.
"""

from __future__ import annotations

import sys
import time

from bench.catch_up import publish
from bench.figures import Figure, ratio
from bench.stage import Stage, name_cluster
from lab.spark_cluster import SparkCluster
from zklake.events.topics import name_topics


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Records/s with two workers ÷ with one."""
    size, rounds = (60_000, 1) if quick else (300_000, 3)
    cluster = name_cluster()
    publish(stage.cluster.bootstrap, cluster, size)
    one, two = (_run(stage, cluster, size, rounds, workers) for workers in (1, 2))
    return [
        ratio(f"two workers ÷ one, {size:,} records", two, one),
        Figure("one worker of one core", one, "records/s"),
        Figure("two workers of one core each", two, "records/s"),
    ]


def _run(stage: Stage, cluster: str, size: int, rounds: int, workers: int) -> list[float]:
    from streaming.daemon import run_once
    from streaming.query import Stream
    from streaming.session import build_session

    options = {"spark.driver.host": "127.0.0.1", "spark.pyspark.python": sys.executable}
    speeds = []
    with SparkCluster(workers, memory="2g") as executors:
        spark = build_session(
            "zklake-bench", master=executors.master.url, driver_memory="2g", settings=options
        )
        try:
            # The first is a warm-up.
            for number in range(rounds + 1):
                lake = str(stage.directory / f"workers-{workers}-{number}")
                topic = name_topics(cluster).events
                stream = Stream(stage.cluster.bootstrap, topic, cluster, lake, max_records=size)
                began = time.monotonic()
                assert run_once(spark, stream).events == size
                speeds.append(size / (time.monotonic() - began))
        finally:
            spark.stop()
    return speeds[1:]
