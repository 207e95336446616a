"""A group stops and recovers on a live cluster while every part of the product is killed -9."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.leash import Leash
from lab.part import Part, Site
from lab.ports import find_free_ports
from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.producing import produce
from tests.dashboard.alerts.receivers import HttpReceiver
from tests.watcher.watching import wait_for
from zklake.errors import QueryError

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

NAME, GROUP, TOPIC = "shop", "readers", "orders"
_START_S = 240.0
_COMMAND = "from zklake.cli.alerts import app; app()"
_CONFIG = """
[alerts]
journal = "{journal}"
interval_s = 0.5
[[alerts.rules]]
rule = "group_status"
for_s = 2
clear_s = 5
groups = ["{group}"]
[[alerts.notifiers]]
by = "webhook"
url = "{url}"
"""
_WATERMARK = "SELECT max(observed_at) AS at FROM znode_events"
_STATUSES = f"SELECT DISTINCT status FROM offset_lag WHERE is_open AND group_id = '{GROUP}'"


class Pipeline:
    """Watcher, stream and alerts over one cluster, each a process of its own."""

    def __init__(self, cluster: Cluster, directory: Path, url: str) -> None:
        self.site = Site(
            cluster.zookeeper_connect, cluster.bootstrap, NAME, str(directory / "lake")
        )
        self._directory = directory
        watch, stream = (f"127.0.0.1:{port}" for port in find_free_ports(2))
        log = ["--log", self.site.log, "--cluster", NAME]
        self.parts = {
            "watch": Part(
                "watch",
                [*log, "--zookeeper", self.site.zookeeper, "--take-over"],
                watch,
                directory,
                {"ZKLAKE_WATCHER__HTTP": watch, "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": "1"},
            ),
            "stream": Part(
                "stream",
                [*log, "--lake", self.site.lake],
                stream,
                directory,
                {
                    "ZKLAKE_STREAM__HTTP": stream,
                    "ZKLAKE_STREAM__DRIVER_MEMORY": "768m",
                    "ZKLAKE_STREAM__LEASE_STALE_S": "5",
                },
            ),
        }
        self._config = directory / "alerts.toml"
        self._config.write_text(_CONFIG.format(journal=directory / "journal", group=GROUP, url=url))
        self._alerts: Leash | None = None

    def launch(self) -> None:
        for part in self.parts.values():
            part.launch()

    def launch_alerts(self) -> None:
        options = ["--lake", self.site.lake, "--cluster", NAME, "--config", str(self._config)]
        command = [sys.executable, "-c", _COMMAND, "run", *options]
        self._alerts = Leash(command, self._directory / "alerts.log")

    def kill(self, name: str) -> None:
        """kill -9, and start it again at once."""
        if name == "alerts":
            assert self._alerts is not None
            self._alerts.kill()
            self.launch_alerts()
            return
        part = self.parts[name]
        assert part._leash is not None
        part._leash.kill()
        part.launch()

    def wait_ready(self) -> None:
        def is_ready() -> bool:
            return all(part.find_obstacle() is None for part in self.parts.values())

        wait_for("watcher and stream", is_ready, _START_S)

    def read(self, sql: str) -> list[dict[str, Any]]:
        try:
            return read_rows(self.site.lake, NAME, sql)
        except QueryError:
            return []

    def wait_past(self, moment: datetime) -> None:
        """The lake has come beyond that moment."""

        def is_past() -> bool:
            rows = self.read(_WATERMARK)
            return bool(rows and rows[0]["at"] and rows[0]["at"] > moment)

        wait_for("news in the lake", is_past, _START_S)

    def wait_status(self, status: str) -> None:
        wanted = [{"status": status}]
        wait_for(f"status {status}", lambda: self.read(_STATUSES) == wanted, _START_S)

    def close(self) -> None:
        if self._alerts is not None:
            self._alerts.stop()
        for part in self.parts.values():
            part.ask_to_stop()
        for part in self.parts.values():
            part.stop()


@contextmanager
def open_pipeline(directory: Path, url: str) -> Iterator[tuple[Cluster, Pipeline]]:
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster(1))
        cluster.create_topic(TOPIC, 2)
        pipeline = Pipeline(cluster, directory, url)
        stack.callback(pipeline.close)
        yield cluster, pipeline


def test_one_open_and_one_close_whatever_is_killed(tmp_path: Path) -> None:
    receiver = HttpReceiver()
    with (
        receiver.serve(),
        open_pipeline(tmp_path, receiver.url) as (cluster, pipeline),
        ConsumerProcess(
            cluster.zookeeper_connect,
            GROUP,
            topics=[TOPIC],
            member_suffix="a",
            log_file=tmp_path / "consumer.log",
        ) as member,
    ):
        pipeline.launch()
        produce(cluster.bootstrap, TOPIC, 200)
        pipeline.wait_ready()
        pipeline.wait_status("OK")
        pipeline.launch_alerts()
        member.stop()
        produce(cluster.bootstrap, TOPIC, 200)
        wait_for("the open", lambda: receiver.list_keys("open"), _START_S)
        check_kills(pipeline)
        assert receiver.list_keys("close") == []
        member.start()
        wait_for("the close", lambda: receiver.list_keys("close"), _START_S)
        check_kills(pipeline)
        pipeline.wait_status("OK")
    show(receiver)
    posts = [post.message for post in receiver.posts]
    assert [post["event"] for post in posts] == ["open", "close"]
    assert len({post["incident"]["id"] for post in posts}) == 1
    assert posts[0]["incident"]["subject"]["group_id"] == GROUP
    assert posts[0]["incident"]["evidence"]["status"] == "STOPPED"


def check_kills(pipeline: Pipeline) -> None:
    """Kill each part in turn; after each the lake goes on."""
    for name in ("alerts", "watch", "stream"):
        pipeline.kill(name)
        moment = datetime.now(UTC)
        pipeline.wait_ready()
        pipeline.wait_past(moment)
        print(f"{name} killed; the lake goes on after {datetime.now(UTC) - moment}")


def show(receiver: HttpReceiver) -> None:
    for post in receiver.posts:
        print(post.key, post.message["summary"], post.message["incident"]["started_at"])
