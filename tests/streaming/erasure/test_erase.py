"""`zklake erase` on a real pipeline: a canary goes through watcher, log and lake, and is erased."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from kazoo.client import KazooClient
from pyspark.sql import SparkSession

from delta_tables import reading
from delta_tables.catalog import TABLES
from lab.cluster import Cluster
from streaming.daemon import run_once
from streaming.lake.lake import Lake
from streaming.query import Stream
from streaming.rebuild import check_names, rebuild
from tests.leaks import find_in_files, read_topic
from tests.streaming.fold.test_law import sort_rows
from tests.watcher.watching import wait_for

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]
OLD, NEW, OWN, NAME = (f"kanarienvogel-{word}" for word in ("alt", "neu", "eigen", "name"))
SIGN = "kanarienvogel"
CONFIG, ZNODE = "/config/topics/orders", "/canary/znode"


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A broker that removes files of deleted records within seconds, and packs no batches."""
    settings = {"log.retention.check.interval.ms": "500", "log.segment.delete.delay.ms": "500"}
    with Cluster(settings=settings) as cluster:
        cluster.create_topic("orders")
        yield cluster


@pytest.fixture
def make_pipeline(
    own_cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> Iterator[Callable[[str], Pipeline]]:
    made = list[Pipeline]()

    def make(name: str) -> Pipeline:
        made.append(Pipeline(own_cluster, spark, tmp_path, name))
        return made[-1]

    yield make
    for pipeline in made:
        pipeline.zookeeper.stop()
        pipeline.zookeeper.close()


class Pipeline:
    """One cluster's watcher and stream, each run when told."""

    def __init__(self, cluster: Cluster, spark: SparkSession, directory: Path, name: str) -> None:
        self.cluster, self.spark, self.name = cluster, spark, name
        self.directory, self.lake = directory, directory / "lake"
        self.zookeeper = KazooClient(cluster.zookeeper_connect)
        self.zookeeper.start()
        self.is_open = True

    def run(self, *arguments: str, value: str = "") -> subprocess.CompletedProcess[str]:
        """One command, as a process of its own."""
        opened = (
            'publish_config_keys = ["plugin.*"]\npublish_paths = ["/canary/**"]\n'
            if self.is_open
            else ""
        )
        config = self.directory / "zklake.toml"
        config.write_text(
            f'cluster = "{self.name}"\n'
            f'[zookeeper]\nconnect = "{self.cluster.zookeeper_connect}"\n'
            f'[log]\nbootstrap = "{self.cluster.bootstrap}"\n'
            '[log.client]\n"compression.type" = "none"\n'
            f'[lake]\npath = "{self.lake}"\n'
            f"[watcher]\n{opened}"
        )
        command = [sys.executable, "-m", "zklake", *arguments, "--config", str(config)]
        return subprocess.run(
            command,
            input=value,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "XDG_STATE_HOME": str(self.directory)},
        )

    def watch(self, *options: str) -> None:
        done = self.run("watch", "--once", *options)
        assert done.returncode == 0, done.stderr

    def erase(self, value: str, *options: str) -> list[dict[str, Any]]:
        done = self.run("erase", "--json", *options, value=value)
        assert done.returncode == 0, done.stderr
        assert SIGN not in done.stdout + done.stderr
        steps: list[dict[str, Any]] = json.loads(done.stdout)
        return steps

    def refuse(self, value: str) -> str:
        done = self.run("erase", value=value)
        assert done.returncode != 0
        assert SIGN not in done.stdout + done.stderr
        return done.stderr

    def fold(self, lake: Path | None = None) -> None:
        stream = Stream(
            self.cluster.bootstrap, f"zklake.{self.name}", self.name, str(lake or self.lake)
        )
        run_once(self.spark, stream)

    def set_config(self, **overrides: str) -> None:
        config = {name.replace("_", "."): value for name, value in overrides.items()}
        self.put(CONFIG, json.dumps({"version": 1, "config": config}))

    def put(self, path: str, data: str) -> None:
        self.zookeeper.ensure_path(path)
        self.zookeeper.set(path, data.encode())

    def count_in_topics(self) -> tuple[int, int]:
        topics = (f"zklake.{self.name}", f"zklake.{self.name}.tree")
        records = (read_topic(self.cluster.bootstrap, topic) for topic in topics)
        events, tree = ([r for r in each if SIGN.encode() in r] for each in records)
        return len(events), len(tree)

    def read_tables(self, lake: Path | None = None) -> dict[str, list[dict[str, Any]]]:
        tables = reading.open_tables(str(lake or self.lake), self.name)
        return {
            table.name: sort_rows(reading.query_rows(tables, f"SELECT * FROM {table.name}")).get(
                self.name, []
            )
            for table in TABLES
            if table.is_interval
        }

    def check_law(self) -> None:
        streamed = self.read_tables()
        topic = f"zklake.{self.name}"
        rebuild(Lake(str(self.lake), self.name), check_names(()), topic, lambda _: None)
        assert self.read_tables() == streamed

    def read_config(self) -> list[tuple[str, str | None, bool]]:
        sql = (
            "SELECT config_key, value, is_redacted FROM config_history "
            "WHERE entity_name = 'orders' ORDER BY valid_from_seq, config_key"
        )
        rows = reading.read_rows(str(self.lake), self.name, sql)
        return [(row["config_key"], row["value"], row["is_redacted"]) for row in rows]


def test_a_canary_goes_from_log_tables_and_files(
    own_cluster: Cluster, make_pipeline: Callable[[str], Pipeline], tmp_path: Path
) -> None:
    pipeline = make_pipeline("erased")
    pipeline.set_config(retention_ms="1000", plugin_x=OLD)
    pipeline.put(ZNODE, OWN)
    pipeline.watch()
    pipeline.set_config(retention_ms="1000", plugin_x=NEW)
    pipeline.watch()
    pipeline.fold()
    assert ("plugin.x", NEW, False) in pipeline.read_config()
    assert pipeline.count_in_topics() == (3, 0)
    data = own_cluster.directory / "broker-0" / "data" / "zklake.erased-0"
    assert find_in_files(data, [SIGN])
    assert len(find_in_files(pipeline.lake, [SIGN])) >= 2

    found = {step["place"]: step["count"] for step in pipeline.erase(OWN, "--dry-run")}
    assert found["topic zklake.erased"] == found["table znode_events"] == 1
    assert "no complete look at the tree follows" in pipeline.refuse(OWN)

    # The watcher no longer publishes them; its look at the whole tree says so. It begins a file of
    # its own, once the broker has taken over the setting.
    files = len(list(data.glob("*.log")))
    set_segment_ms(own_cluster, "zklake.erased", AlterConfigOpType.SET)
    pipeline.is_open = False

    def look_again() -> bool:
        pipeline.watch("--resnapshot")
        return len(list(data.glob("*.log"))) > files

    wait_for("a file of its own", look_again, 300)
    assert "Run `zklake stream --once` first" in pipeline.refuse(OWN)
    assert pipeline.count_in_topics() == (3, 0), "nothing was changed"
    pipeline.fold()

    pipeline.erase(OWN)
    left = find_in_files(pipeline.lake, [OWN])
    assert left == []
    pipeline.erase("", "--path", CONFIG, "--key", "plugin.x")
    assert pipeline.count_in_topics() == (0, 0)
    assert find_in_files(pipeline.lake, [SIGN]) == []
    assert find_in_files(tmp_path, [SIGN]) == []
    assert {value for key, value, _ in pipeline.read_config() if key == "plugin.x"} == {None}
    assert {hidden for key, _, hidden in pipeline.read_config() if key == "plugin.x"} == {True}
    pipeline.check_law()

    # It goes on.
    pipeline.set_config(retention_ms="2000", plugin_x="another-value")
    pipeline.watch()
    pipeline.fold()
    assert ("retention.ms", "2000", False) in pipeline.read_config()
    pipeline.check_law()

    # A new lake can begin with what is left of the log, and ends in the same state.
    anew = tmp_path / "anew"
    pipeline.fold(anew)
    sql = "SELECT config_key, value, is_redacted FROM config_history WHERE is_open ORDER BY 1"
    old, new = (reading.read_rows(str(lake), "erased", sql) for lake in (pipeline.lake, anew))
    assert old == new != []

    # The broker's own files.
    wait_for("the files of deleted records to go", lambda: not find_in_files(data, [SIGN]))
    set_segment_ms(own_cluster, "zklake.erased", AlterConfigOpType.DELETE)


def set_segment_ms(cluster: Cluster, topic: str, operation: AlterConfigOpType) -> None:
    """The procedure of docs/erasing.md, for files that the broker would keep."""
    entry = ConfigEntry("segment.ms", "1000", incremental_operation=operation)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    (future,) = admin.incremental_alter_configs([resource]).values()
    future.result(60)
    time.sleep(1.1)


def test_a_name_goes_with_the_tree_topic(make_pipeline: Callable[[str], Pipeline]) -> None:
    pipeline = make_pipeline("named")
    pipeline.is_open = False
    pipeline.put(f"/canary/{NAME}", "")
    pipeline.watch()
    pipeline.zookeeper.delete(f"/canary/{NAME}")
    pipeline.watch("--resnapshot")
    pipeline.fold()
    events, tree = pipeline.count_in_topics()
    assert events >= 2
    assert tree >= 2
    pipeline.erase(NAME)
    assert find_in_files(pipeline.lake, [SIGN]) == []
    pipeline.watch()
    assert pipeline.count_in_topics() == (0, 0)
    pipeline.fold()
    gaps = reading.read_rows(str(pipeline.lake), "named", "SELECT reason FROM log_gaps")
    assert "model_lost" in [row["reason"] for row in gaps]
    pipeline.check_law()
