from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from pyspark.sql import SparkSession

from delta_tables import reading
from lab.cluster import Cluster
from streaming.daemon import run_once
from streaming.lake.lease import FILE_NAME
from streaming.metrics import StreamMetrics
from streaming.query import Stream
from streaming.trouble import BatchFailed
from streaming.worker import Worker
from tests.streaming.story import Story
from tests.streaming.topic import Topic
from zklake.errors import OtherLog

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]
FIRST_COMMIT = f"{0:020}.json"
CZXIDS = "SELECT czxid FROM broker_membership ORDER BY czxid"


@contextmanager
def running(spark: SparkSession, *workers: Worker) -> Iterator[None]:
    threads = [threading.Thread(target=worker.run, args=(spark,)) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.stop.set()
        for thread in threads:
            thread.join()


def wait_for(condition: Callable[[], bool], worker: Worker, timeout_s: float = 240) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, (worker.obstacle, worker.error)
        time.sleep(0.1)


def read_czxids(lake: Path, cluster: str) -> list[int]:
    if not (lake / cluster / "broker_membership" / "_delta_log" / FIRST_COMMIT).exists():
        return []
    return [row["czxid"] for row in reading.read_rows(str(lake), cluster, CZXIDS)]


def test_one_cluster_that_fails_does_not_end_the_other(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    metrics = StreamMetrics()
    topics = {name: Topic(cluster.bootstrap) for name in ("a", "b")}
    a, b = (
        Worker(Stream(cluster.bootstrap, topic.name, name, str(tmp_path), trigger_ms=100), metrics)
        for name, topic in topics.items()
    )
    story, old = Story("a").register(1, czxid=10), Story("b", "log-1").register(1, czxid=10)
    topics["a"].write(story.events)
    topics["b"].write(old.events)
    run_once(spark, b.stream)
    topics["b"].recreate()
    topics["b"].write(Story("b", "log-2").register(1, czxid=10).register(2, czxid=11).events)
    with running(spark, a, b):
        wait_for(lambda: b.error is not None, b)
        assert isinstance(b.error, OtherLog)
        assert "--accept-log" in (b.obstacle or "")
        known = len(story.events)
        topics["a"].write(story.leave(1, czxid=10, zxid=20).register(1, czxid=30).events[known:])
        wait_for(lambda: read_czxids(tmp_path, "a") == [10, 30], a)
        wait_for(lambda: a.obstacle is None, a)
        assert (tmp_path / "a" / FILE_NAME).exists()
    assert a.error is None
    assert not list(tmp_path.rglob(f"{FILE_NAME}*"))
    text = generate_latest(metrics.registry).decode()
    assert 'zklake_stream_restarts_total{cluster="a"} 0.0' in text
    assert 'zklake_stream_ready{cluster="b"} 0.0' in text
    assert 'zklake_stream_events_total{cluster="a"}' in text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "zklake-test", str(disk)],
        check=False,
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("may not mount a small disk here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def test_outages_are_waited_out_and_nothing_is_torn(
    spark: SparkSession, cluster: Cluster, small_disk: Path
) -> None:
    topic, lake = Topic(cluster.bootstrap), small_disk / "lake"
    stream = Stream(cluster.bootstrap, topic.name, "c", str(lake), trigger_ms=100)
    worker, story = Worker(stream, StreamMetrics()), Story()
    remount = ["mount", "-o"]

    def live(czxid: int) -> None:
        known = len(story.events)
        topic.write(story.register(czxid, czxid=czxid).events[known:])

    live(1)
    with running(spark, worker):
        wait_for(lambda: read_czxids(lake, "c") == [1], worker)
        wait_for(lambda: worker.obstacle is None, worker)

        filler = fill(small_disk)
        live(2)
        wait_for(lambda: "the disk is full" in (worker.obstacle or ""), worker)
        assert read_czxids(lake, "c") == [1]
        filler.unlink()
        wait_for(lambda: worker.obstacle is None, worker)
        assert read_czxids(lake, "c") == [1, 2]

        subprocess.run([*remount, "remount,ro", str(small_disk)], check=True)
        live(3)
        wait_for(lambda: "read-only" in (worker.obstacle or ""), worker)
        subprocess.run([*remount, "remount,rw", str(small_disk)], check=True)
        wait_for(lambda: worker.obstacle is None, worker)
        assert read_czxids(lake, "c") == [1, 2, 3]

        cluster.brokers[0].kill()
        wait_for(lambda: worker.obstacle == "the log's Kafka does not answer", worker)
        cluster.brokers[0].restart()
        cluster.wait_ready()
        topic.forget_producer()
        live(4)
        wait_for(lambda: read_czxids(lake, "c") == [1, 2, 3, 4], worker)
    assert worker.error is None
    seqs = reading.read_rows(str(lake), "c", "SELECT seq FROM znode_events ORDER BY seq")
    assert [row["seq"] for row in seqs] == [event.seq for event in story.events]


def test_a_failure_that_stays_ends_the_stream(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    topic = Topic(cluster.bootstrap)
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path), trigger_ms=100)
    story = Story().register(1, czxid=10)
    topic.write(story.events)
    run_once(spark, stream)
    for file in (tmp_path / "c" / "broker_membership").rglob("*.parquet"):
        file.unlink()
    topic.write(story.register(2, czxid=20).events[2:])
    worker = Worker(stream, StreamMetrics())
    with running(spark, worker):
        wait_for(lambda: worker.error is not None, worker)
    assert isinstance(worker.error, BatchFailed)
    assert "3 times at the same place of the log (after seq 1001)" in str(worker.error)
