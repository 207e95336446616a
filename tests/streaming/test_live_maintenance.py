"""Maintenance between the batches of a stream on an aged lake, under live readers."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import QueryBuilder
from pyspark.sql import SparkSession

from bench.aged_lake import World
from delta_tables import reading
from delta_tables.asking.stats import measure_lake
from delta_tables.catalog import TABLE_BY_NAME
from lab.cluster import Cluster
from streaming.lake.lake import Lake
from streaming.maintenance.requests import ask
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import Upkeep, maintain
from streaming.metrics import StreamMetrics
from streaming.query import Stream
from streaming.rebuild import rebuild
from streaming.worker import Worker
from tests.aged import CLUSTER, copy_lake, read_all, read_table
from tests.streaming.test_worker import running, wait_for
from tests.streaming.topic import Topic
from zklake.events.envelope import Event, Stat, encode

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]
NAMES = ("partition_state", "topics", "znode_events")
PATH = "/brokers/topics/topic-0/partitions/0/state"


def make_event(world: World, number: int) -> Event:
    """A write after the lake's last one; number 0 is the last one itself, as far as it matters."""
    at_ms = world.start_ms + world.size.days * 86_400_000 + 1000 * number
    data = f'{{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":{number},"isr":[1]}}'
    zxid = 10_000_000 + number
    stat = Stat(czxid=1, mzxid=zxid, ctime=1, mtime=at_ms, version=100_000 + number)
    seq = world.last_seq + number
    return Event(
        CLUSTER,
        world.log_id,
        seq,
        "set",
        at_ms,
        path=PATH,
        kind="partition_state",
        zxid=zxid,
        data=data,
        stat=stat,
        origin="watch",
    )


class Log:
    """The topic that the lake was folded from, as far as it matters: its last record."""

    def __init__(self, cluster: Cluster, world: World) -> None:
        self.name = Topic(cluster.bootstrap).name
        self.world, self.written = world, 0
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
        for _ in range(world.last_offset):
            self._producer.produce(self.name, b"{}")
        self._producer.produce(self.name, encode(make_event(world, 0)))
        self._producer.flush(60)

    def write(self) -> int:
        """One more event; returns its seq."""
        self.written += 1
        event = make_event(self.world, self.written)
        self._producer.produce(self.name, encode(event))
        self._producer.flush(60)
        return event.seq


class Readers:
    """Read while others write: the newest rows, and an old snapshot again and again."""

    def __init__(self, lake: Path) -> None:
        self._lake, self._stop = str(lake), threading.Event()
        self.rounds, self.errors = 0, list[Exception]()
        self._held = reading.open_tables(self._lake, CLUSTER)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        first = self._count()
        while not self._stop.wait(0.05):
            try:
                assert self._count() == first
                sql = "SELECT count(*) AS n FROM partition_state WHERE topic = 'topic-0'"
                assert reading.read_rows(self._lake, CLUSTER, sql)[0]["n"]
                self.rounds += 1
            except Exception as error:
                self.errors.append(error)

    def _count(self) -> dict[str, int]:
        counts = {}
        for name, table in self._held.items():
            rows = QueryBuilder().register("held", table).execute("SELECT * FROM held").read_all()
            counts[name] = rows.num_rows
        return counts

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


def told_before(rows: dict[str, list[dict[str, Any]]], seq: int) -> dict[str, list[Any]]:
    """What had ended by then."""
    return {
        name: [row for row in rows[name] if (row["valid_to_seq"] or seq + 1) <= seq]
        for name in rows
        if TABLE_BY_NAME[name].is_interval
    }


@pytest.mark.faults
def test_a_stream_maintains_an_aged_lake_and_nobody_notices(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    world = copy_lake(tmp_path)
    before = read_all(tmp_path)
    files = {stats.table: stats.files for stats in measure_lake(str(tmp_path), CLUSTER).tables}
    log = Log(cluster, world)
    upkeep = Upkeep(str(tmp_path), CLUSTER, Policy(sample_days=0), is_on=False)
    stream = Stream(cluster.bootstrap, log.name, CLUSTER, str(tmp_path), trigger_ms=100)
    worker = Worker(stream, StreamMetrics(), upkeep=upkeep)
    log.write()
    readers = Readers(tmp_path)
    lines = []
    try:
        with running(spark, worker):
            wait_for(lambda: worker.obstacle is None, worker)
            for number, line in enumerate(ask(str(tmp_path), CLUSTER, NAMES)):
                lines.append(line)
                if number % 6 == 0:
                    log.write()
            last = log.write()
            wait_for(lambda: read_watermark(tmp_path) == last, worker)
    finally:
        readers.close()
    assert worker.error is None
    assert not readers.errors
    assert readers.rounds > 2
    assert not [line for line in lines if line.is_error]
    assert {line.action for line in lines} >= {"settle", "sort", "vacuum", "clean"}
    after = read_all(tmp_path)
    assert told_before(after, world.last_seq) == told_before(before, world.last_seq)
    assert after["znode_events"][: len(before["znode_events"])] == before["znode_events"]
    news = [row for row in after["partition_state"] if row["valid_from_seq"] > world.last_seq]
    assert [row["leader_epoch"] for row in news] == list(range(1, log.written + 1))
    for stats in measure_lake(str(tmp_path), CLUSTER).tables:
        if stats.table in ("partition_state", "znode_events"):
            assert stats.files < files[stats.table] / 2

    # What was rewritten, and what the trimmed samples had made, can be made anew.
    list(maintain(str(tmp_path), CLUSTER, ["znode_events"], Policy()))
    assert len(read_table(tmp_path, "znode_events")) < len(after["znode_events"])
    names = ("partition_state", "ownership_history", "consumer_offsets")
    rebuild(Lake(str(tmp_path), CLUSTER), names, log.name, lambda _: None)
    for name in names:
        assert read_table(tmp_path, name) == after[name], name


def read_watermark(lake: Path) -> int | None:
    time.sleep(0.2)
    return measure_lake(str(lake), CLUSTER).watermark
