"""One ZooKeeper group that Burrow and zklake both watch, and what each says of it at one moment.

The truth of the moment is what the broker and ZooKeeper say themselves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from dashboard.app import App, build_app
from dashboard.dialects.burrow.evaluation import Rules
from dashboard.options import Options
from delta_tables.asking.moments import write_held
from delta_tables.live.freshness import read_watermark
from lab.cluster import Cluster
from lab.ports import find_free_ports
from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.producing import produce
from tests.e2e.burrow_process import CLUSTER, BurrowProcess
from tests.e2e.burrow_truth import Truth, read_truth
from tests.proxy import Proxy
from tests.watcher.watching import WatcherProcess, wait_for
from zklake.supervision.part import ProductPart

GROUP, TOPIC, PARTITIONS = "readers", "orders", 4
RATE = 50.0
REFRESH_S = 2
# Ours is told to wait as long as Burrow's window of ten commits lasts.
PATIENCE_S = 20
_SAMPLING = {
    "ZKLAKE_WATCHER__SAMPLING": "true",
    "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": str(REFRESH_S),
}
_PATIENCE = {
    "ZKLAKE_LAG__STALLED_AFTER_S": str(PATIENCE_S),
    "ZKLAKE_LAG__WARN_AFTER_S": str(PATIENCE_S),
}


@dataclass(frozen=True)
class Moment:
    """Three words on one moment."""

    title: str
    truth: Truth
    burrow: dict[str, Any]
    ours: dict[str, Any]
    # Our own status of each partition.
    statuses: list[str]
    # How long after the moment the lake could tell of it.
    folded_after_s: float


@dataclass
class Scene:
    """The group, its watchers, and the moments looked at so far."""

    cluster: Cluster
    burrow: BurrowProcess
    watcher: WatcherProcess
    stream: ProductPart
    app: App
    # Between each of both watchers and ZooKeeper.
    proxies: tuple[Proxy, Proxy]
    moments: list[Moment] = field(default_factory=list)
    members: list[ConsumerProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = TestClient(self.app.asgi, base_url="http://127.0.0.1")

    def join(self, name: str, rate: float | None = None) -> ConsumerProcess:
        """A member of the group, started and at work."""
        member = ConsumerProcess(
            self.cluster.zookeeper_connect,
            GROUP,
            topics=[TOPIC],
            member_suffix=name,
            log_file=self.cluster.logs / f"{name}.log",
            auto_commit_ms=1000 * REFRESH_S,
            rate=rate,
        )
        self.members.append(member)
        member.start()
        return member

    def look(self, title: str, since: float | None = None) -> Moment:
        """Ask all three, of the same moment; `since`: when that began (time.monotonic)."""
        truth = self.read_truth()
        if since is not None:
            title = f"{title}, {time.monotonic() - since:.0f} s"
        burrow = self.burrow.ask(f"/consumer/{GROUP}/lag")["status"]
        asked_at = time.monotonic()
        wait_for(f"the lake ({self.stream.log_file})", lambda: self._is_folded(truth.at), 120)
        folded_after_s = time.monotonic() - asked_at
        params = {"time": truth.at.isoformat()}
        path = f"/v3/kafka/{CLUSTER}/consumer/{GROUP}/lag"
        ours = self._client.get(path, params=params).json()["status"]
        statuses = self._read_statuses(truth.at)
        moment = Moment(title, truth, burrow, ours, statuses, folded_after_s)
        self.moments.append(moment)
        return moment

    def read_truth(self) -> Truth:
        """Now, by the broker and ZooKeeper."""
        return read_truth(self.cluster, GROUP, TOPIC, PARTITIONS)

    def _is_folded(self, at: datetime) -> bool:
        self.app.tables.look()
        watermark = read_watermark(self.app.tables)
        return watermark is not None and watermark >= at

    def _read_statuses(self, at: datetime) -> list[str]:
        sql = (
            "SELECT status FROM offset_lag WHERE coordinator = 'zookeeper' "
            f"AND group_id = '{GROUP}' AND {write_held(at)} ORDER BY partition"
        )
        return [row["status"] or "unknown" for row in self.app.tables.query(sql, "offset_lag")]


@contextmanager
def open_scene(directory: Path) -> Iterator[Scene]:
    """Everything up, and somebody producing."""
    lake = str(directory / "lake")
    with Cluster(1, directory=directory / "cluster") as cluster:
        cluster.create_topic(TOPIC, PARTITIONS)
        options = ["--log", cluster.bootstrap, "--cluster", CLUSTER, "--lake", lake]
        http = f"127.0.0.1:{find_free_ports(1)[0]}"
        environment = {"ZKLAKE_STREAM__HTTP": http, **_PATIENCE}
        stream = ProductPart("stream", options, http, directory, environment)
        port = cluster.zookeeper.servers[0].port
        with (
            Proxy(port) as mine,
            Proxy(port) as its,
            WatcherProcess(
                mine.address, cluster.bootstrap, directory, cluster=CLUSTER, environ=_SAMPLING
            ) as watcher,
            BurrowProcess(
                its.address, cluster.bootstrap, directory / "burrow", REFRESH_S
            ) as burrow,
            _producing(cluster.bootstrap),
        ):
            rules = Rules(offset_refresh_s=REFRESH_S)
            app = build_app(Options(lake, CLUSTER, burrow=rules))
            scene = Scene(cluster, burrow, watcher, stream, app, (mine, its))
            stream.launch()
            try:
                wait_for("Burrow", burrow.is_alive)
                wait_for("the stream", lambda: _is_ready(stream), 240)
                yield scene
            finally:
                for member in scene.members:
                    member.close()
                stream.stop()


def _is_ready(stream: ProductPart) -> bool:
    assert stream.is_alive(), stream.log_file.read_text()[-3000:]
    return stream.find_obstacle() is None


@contextmanager
def _producing(bootstrap: str) -> Iterator[None]:
    stopping = threading.Event()
    thread = threading.Thread(
        target=produce, args=(bootstrap, TOPIC, None, RATE), kwargs={"stopping": stopping}
    )
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(70)
