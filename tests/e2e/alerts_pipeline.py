"""Watcher, stream, dashboard and notifier over one cluster: processes that can be killed -9."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.ports import find_free_ports
from tests.watcher.watching import wait_for
from zklake.errors import QueryError
from zklake.supervision.child_process import ChildProcess
from zklake.supervision.part import ProductPart, Site

NAME, GROUP, TOPIC = "shop", "readers", "orders"
# A stream that starts on a busy machine takes minutes.
START_S = 420.0
# Every part there is; the notifier first.
PARTS = ("alerts", "watch", "stream", "dashboard", "broker", "zookeeper")
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
    """All of it; `killed` counts by name."""

    def __init__(self, cluster: Cluster, directory: Path, url: str) -> None:
        self.cluster = cluster
        self.site = Site(
            cluster.zookeeper_connect, cluster.bootstrap, NAME, str(directory / "lake")
        )
        self.killed = dict.fromkeys(PARTS, 0)
        self.parts = {part.name: part for part in self._build(directory)}
        self._directory = directory
        self._config = directory / "alerts.toml"
        self._config.write_text(_CONFIG.format(journal=directory / "journal", group=GROUP, url=url))
        self._alerts: ChildProcess | None = None

    def _build(self, directory: Path) -> Iterator[ProductPart]:
        watch, stream, dashboard = (f"127.0.0.1:{port}" for port in find_free_ports(3))
        log, lake = ["--log", self.site.log, "--cluster", NAME], ["--lake", self.site.lake]
        watched = ["--zookeeper", self.site.zookeeper, "--take-over"]
        sampling = {"ZKLAKE_WATCHER__HTTP": watch, "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": "1"}
        yield ProductPart("watch", [*log, *watched], watch, directory, sampling)
        small = {
            "ZKLAKE_STREAM__HTTP": stream,
            "ZKLAKE_STREAM__DRIVER_MEMORY": "768m",
            "ZKLAKE_STREAM__LEASE_STALE_S": "5",
        }
        yield ProductPart("stream", [*log, *lake], stream, directory, small)
        shown = [*lake, "--cluster", NAME, "--http", dashboard]
        yield ProductPart("dashboard", shown, dashboard, directory)

    def launch(self) -> None:
        for part in self.parts.values():
            part.launch()

    def launch_alerts(self) -> None:
        options = ["--lake", self.site.lake, "--cluster", NAME, "--config", str(self._config)]
        command = [sys.executable, "-c", _COMMAND, "run", *options]
        self._alerts = ChildProcess(command, self._directory / "alerts.log")

    def kill(self, name: str) -> None:
        """kill -9, and start it again at once."""
        self.killed[name] += 1
        if name == "alerts":
            assert self._alerts is not None
            self._alerts.kill()
            self.launch_alerts()
        elif name in self.parts:
            part = self.parts[name]
            assert part._process is not None
            part._process.kill()
            part.launch()
        else:
            zookeeper, broker = self.cluster.servers
            server = broker if name == "broker" else zookeeper
            server.kill()
            server.start()

    def wait_ready(self) -> None:
        def is_ready() -> bool:
            return all(part.find_obstacle() is None for part in self.parts.values())

        wait_for("watcher, stream and dashboard", is_ready, START_S)

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

        wait_for("news in the lake", is_past, START_S)

    def wait_status(self, status: str) -> None:
        wanted = [{"status": status}]
        wait_for(f"status {status}", lambda: self.read(_STATUSES) == wanted, START_S)

    def kill_each(self) -> None:
        """One part after the other; after each the lake goes on."""
        for name in PARTS:
            self.kill(name)
            moment = datetime.now(UTC)
            self.wait_ready()
            self.wait_past(moment)
            print(f"{name} killed; the lake goes on after {datetime.now(UTC) - moment}")

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
