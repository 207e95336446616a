"""A real cluster moves to a KRaft controller and back: what page, API and command say of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from pyspark.sql import SparkSession
from starlette.testclient import TestClient
from typer.testing import CliRunner

from dashboard.options import Options
from delta_tables.asking.readiness import PHASES
from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.kraft import BRIDGE, KraftController
from lab.zookeeper_consumer.session import closing_client
from streaming.daemon import run_once
from streaming.query import Stream
from tests.dashboard.conftest import open_client
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for
from zklake.cli.main import app
from zklake.events.topics import name_topics

pytestmark = [pytest.mark.e2e, pytest.mark.integration, pytest.mark.spark]

Checks = dict[str, dict[str, Any]]


class Scene:
    """A cluster that moves, watched; the log is kept by another one, which stays."""

    def __init__(
        self, moving: Cluster, log: Cluster, spark: SparkSession, path: Path, stack: ExitStack
    ) -> None:
        self.lake, self._spark = str(path / "lake"), spark
        place = moving.zookeeper_connect
        self.zookeeper: KazooClient = stack.enter_context(closing_client(place))
        self._watcher = stack.enter_context(WatcherProcess(place, log.bootstrap, path))
        self.cluster = self._watcher.cluster
        self._tail = stack.enter_context(closing(LogTail(log.bootstrap, self.cluster)))
        topic = name_topics(self.cluster).events
        self._stream = Stream(log.bootstrap, topic, self.cluster, self.lake)
        self._page: TestClient = open_client(Options(self.lake, self.cluster))

    def expect(self, *phases: str, **verdicts: str) -> Checks:
        """Fold until all say one of these phases, with these verdicts; the checks by name."""
        deadline = time.monotonic() + 120
        while True:
            catch_up(self._watcher, self._tail)
            run_once(self._spark, self._stream)
            said = self._ask()
            found = {name: check["verdict"] for name, check in said["checks"].items()}
            if said["phase"] in phases and verdicts.items() <= found.items():
                self._check_page(said)
                return dict(said["checks"])
            assert time.monotonic() < deadline, (phases, verdicts, said)

    def _ask(self) -> dict[str, Any]:
        place = ["--lake", self.lake, "--cluster", self.cluster]
        result = CliRunner().invoke(app, ["migration", *place, "--json"], catch_exceptions=False)
        (said,) = json.loads(result.stdout)
        assert result.exit_code == (1 if said["verdict"] == "blocked" else 0)
        return {**said, "checks": {check["check_name"]: check for check in said["checks"]}}

    def _check_page(self, said: dict[str, Any]) -> None:
        api, text = self._page.get("/api/migration").json(), self._page.get("/migration").text
        assert (api["phase"], api["verdict"]) == (said["phase"], said["verdict"])
        assert PHASES[said["phase"]] in text
        for check in api["checks"]:
            mine = said["checks"][check["check_name"]]
            assert {name: check[name] for name in mine} == mine
            assert check["question"].replace("'", "&#39;") in text
            for row in mine["evidence"]:
                self._check_row(row)

    def _check_row(self, row: dict[str, Any]) -> None:
        """What is named as evidence is there, and holds; of a broker that left, its last row."""
        where = f"valid_from_seq = {row['source_seq']}"
        sql = f"SELECT is_open FROM {row['source_table']} WHERE {where}"
        is_open = " left " not in row["says"]
        assert {"is_open": is_open} in read_rows(self.lake, self.cluster, sql), row


@pytest.fixture
def moving() -> Iterator[Cluster]:
    with Cluster(settings=BRIDGE, session_timeout_ms=3_000) as cluster:
        yield cluster


@pytest.mark.timeout(900)
def test_a_cluster_moves_to_kraft_and_back(
    moving: Cluster, cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        scene = Scene(moving, cluster, spark, tmp_path, stack)
        moving.create_topic("orders", 2)
        scene.zookeeper.create("/consumers/billing/offsets/orders/0", b"5", makepath=True)
        checks = scene.expect("not_begun", rollback="ok", leftover="ok", groups="blocked")
        assert "billing" in checks["groups"]["detail"]
        assert checks["partitions"]["verdict"] == "ok"
        assert checks["registrations"]["verdict"] == "unknown"
        kraft = stack.enter_context(KraftController(moving))
        migrate(scene, moving, kraft)
        roll_back(scene, moving, kraft)


def migrate(scene: Scene, moving: Cluster, kraft: KraftController) -> None:
    wait_for("/migration", lambda: scene.zookeeper.exists("/migration"))
    scene.expect("preparing", rollback="ok", leftover="ok")
    kraft.enrol(moving.brokers[0])
    kraft.wait_for_dual_write()
    checks = scene.expect(
        "dual_write", phase="ok", rollback="ok", leftover="ok", registrations="ok"
    )
    tables = [row["source_table"] for row in checks["rollback"]["evidence"]]
    assert tables == ["controller", "cluster_state", "partition_state"]
    assert f"KRaft controller {kraft.node_id} holds" in checks["rollback"]["evidence"][0]["says"]


def roll_back(scene: Scene, moving: Cluster, kraft: KraftController) -> None:
    """By Kafka's guide, but for the order of the last two steps: /migration stays for a while."""
    zookeeper = scene.zookeeper
    kraft.stop()
    # As if the quorum had elected often: KRaft's epoch is no longer below ZooKeeper's.
    zookeeper.set("/controller_epoch", b"1")
    # It has just fallen silent: how long ago depends on the machine.
    checks = scene.expect("dual_write", "stalled", rollback="blocked")
    advice = re.search(r"set /controller_epoch (\d+)", checks["rollback"]["action"])
    assert advice is not None
    zookeeper.set("/controller_epoch", advice[1].encode())
    scene.expect("dual_write", "stalled", rollback="ok")
    # A broker that is up takes /controller at once.
    moving.brokers[0].stop()
    zookeeper.delete("/controller", recursive=True)
    scene.expect("rolling_back", phase="blocked", rollback="ok", leftover="warning")
    kraft.release(moving.brokers[0])
    moving.create_topic("after", 1)
    checks = scene.expect("rolled_back_leftover", leftover="blocked", rollback="ok")
    assert "skips the copy" in checks["leftover"]["detail"]
    zookeeper.delete("/migration")
    zookeeper.delete("/consumers/billing", recursive=True)
    checks = scene.expect("rolled_back", groups="ok", partitions="ok")
    assert {check["verdict"] for check in checks.values()} == {"ok"}
