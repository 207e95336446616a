"""How fast a stream folds a log that is already there, beside a plain copy of it into Delta.

The control reads the same topic with the same source and appends the records as they are. Both run
in this process's Spark, in turn, after a warm-up. Seconds of CPU are those of this process, of the
JVM and of Spark's Python workers: on a busy machine they show more than the clock does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Producer

from bench.figures import Figure, ratio
from bench.processes import read_tree_cpu_s
from bench.stage import Stage, name_cluster
from bench.znodes import make_state
from lab.zookeeper_consumer.producing import enqueue
from watcher.log.topics import ensure_topics
from zklake.events.envelope import SEQ_PER_SECOND, Event, Stat, encode
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_SEQ = 1_700_000_000 * SEQ_PER_SECOND
_BORN_MS = 1_794_793_246_000


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Records/s of the fold ÷ of the plain append."""
    from streaming.session import build_session

    size, rounds = (20_000, 2) if quick else (300_000, 3)
    cluster = name_cluster()
    publish(stage.cluster.bootstrap, cluster, size)
    spark = build_session("zklake-bench", driver_memory="2g")
    try:
        runs = [_race(spark, stage, cluster, size, number) for number in range(rounds + 1)][1:]
    finally:
        spark.stop()
    folds, copies = zip(*runs, strict=True)
    folded, copied = ([size / one.seconds for one in each] for each in (folds, copies))
    fold_us, copy_us = ([1e6 * one.cpu_s / size for one in each] for each in (folds, copies))
    return [
        ratio(f"fold ÷ plain append, {size:,} records", folded, copied, "≥ 0.5"),
        Figure("fold", folded, "records/s"),
        Figure("plain append", copied, "records/s"),
        ratio("CPU of plain append ÷ of fold", copy_us, fold_us),
        Figure("CPU of fold", fold_us, "µs/record"),
        Figure("CPU of plain append", copy_us, "µs/record"),
    ]


class _Took(NamedTuple):
    seconds: float
    cpu_s: float


def _race(
    spark: SparkSession, stage: Stage, cluster: str, size: int, number: int
) -> tuple[_Took, _Took]:
    from streaming.daemon import run_once
    from streaming.query import Stream

    bootstrap, topic = stage.cluster.bootstrap, name_topics(cluster).events
    lake, copy = (str(stage.directory / f"{name}-{number}") for name in ("fold", "copy"))

    def fold() -> None:
        totals = run_once(spark, Stream(bootstrap, topic, cluster, lake, max_records=size))
        assert totals.events == size

    return (
        _take_time(spark, fold),
        _take_time(spark, lambda: _copy(spark, bootstrap, topic, copy, size)),
    )


def _take_time(spark: SparkSession, run: Callable[[], None]) -> _Took:
    jvm: int = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]

    def read_cpu_s() -> float:
        return time.process_time() + read_tree_cpu_s(jvm)

    began, used = time.monotonic(), read_cpu_s()
    run()
    return _Took(time.monotonic() - began, read_cpu_s() - used)


def _copy(spark: SparkSession, bootstrap: str, topic: str, path: str, size: int) -> None:
    from streaming.log.source import fresh_checkpoint, read_log

    records = read_log(spark, bootstrap, topic, None, max_records=size, client={})
    with fresh_checkpoint() as checkpoint:
        writer = records.writeStream.format("delta").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start(path).awaitTermination()


def publish(bootstrap: str, cluster: str, size: int) -> None:
    """Write a log of so many records."""
    ensure_topics(bootstrap, {}, cluster)
    topic = name_topics(cluster).events
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "log_level": 0})
    for record in make_records(cluster, size):
        enqueue(producer, topic, record)
    producer.flush(60)


def make_records(cluster: str, size: int) -> Iterator[bytes]:
    """Mostly partition states; every tenth an offset, every twentieth a claim or a release."""
    for number in range(size):
        stat = Stat(
            czxid=1, mzxid=number + 2, ctime=_BORN_MS, mtime=_BORN_MS + number, version=number
        )
        op, kind = "set", "partition_state"
        data: str | None = make_state(number).decode()
        path = f"/brokers/topics/t{number % 500}/partitions/{number % 20}/state"
        if number % 10 == 0:
            kind, data = "offset", str(number)
            path = f"/consumers/g{number % 50}/offsets/t/{number % 20}"
        elif number % 20 == 7:
            op, kind, data = "create", "owner", f"g_h-{number}-0"
            path = f"/consumers/g/owners/t/{number % 100}"
        elif number % 20 == 17:
            op, kind, data = "delete", "owner", None
            path = f"/consumers/g/owners/t/{(number - 10) % 100}"
        event = Event(
            cluster,
            "bench",
            _FIRST_SEQ + number,
            op,  # type: ignore[arg-type]
            _BORN_MS + number,
            path=path,
            kind=kind,
            zxid=number + 2,
            data=data,
            stat=stat,
            origin="watch",
        )
        yield encode(event)
