"""Where stories are told and watched: a cluster, `zklake watch` beside it, what was told so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from lab.cluster import Cluster
from lab.stories import BROKER_SETTINGS
from streaming.fold.lag.status import Thresholds
from streaming.fold.rebalances.episode import Pace
from streaming.fold.rules import Rules
from tests.e2e.sampler import Sampler
from tests.watcher.watching import LogTail, WatcherProcess, catch_up
from zklake.events.envelope import Event
from zklake.events.topics import name_topics

Fact = dict[str, Any]
_LAST_BATCH_S = 30.0
SAMPLE_MS = 1_000
_SAMPLING = {
    "ZKLAKE_WATCHER__SAMPLING": "true",
    "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": str(SAMPLE_MS // 1000),
}
# A story's seconds are somebody's minutes; the lab's consumers try again after half a second, and
# who is dead is not STALLED: its session expires before.
THRESHOLDS = Thresholds(
    stalled_after_ms=5_000,
    warn_after_ms=2_000,
    unowned_after_ms=2_000,
    abandoned_after_ms=20_000,
    # Every look is a point.
    point_ms=SAMPLE_MS // 2,
)
RULES = Rules(THRESHOLDS, Pace(quiet_ms=1_000, fail_ms=3_000, extra_round_ms=300))


@dataclass
class Theatre:
    """The watched cluster, its watcher, and by story the facts of those told to the end."""

    cluster: Cluster
    watcher: WatcherProcess
    # Somebody else, who looks at offsets beside it.
    sampler: Sampler
    facts: dict[str, list[Fact]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the cluster, in the log and in the lake."""
        return self.watcher.cluster

    @property
    def bootstrap(self) -> str:
        """Of the Kafka that holds the log."""
        return self.watcher.bootstrap

    @property
    def topic(self) -> str:
        """The log."""
        return name_topics(self.name).events

    @property
    def reports(self) -> Path:
        """Where the lab's consumers leave theirs."""
        return self.cluster.logs / "consumers"

    def make_whole(self) -> None:
        """Every broker alive, also after a story that failed."""
        for broker in self.cluster.brokers:
            if not broker.is_alive():
                broker.start()

    def close_curtain(self) -> list[Event]:
        """Let the watcher say all there is and stop; returns the whole log."""
        time.sleep(2 * SAMPLE_MS / 1000)
        self.sampler.stop()
        with closing(LogTail(self.bootstrap, self.name)) as tail:
            catch_up(self.watcher, tail)
            self.watcher.process.stop(_LAST_BATCH_S)
            assert self.watcher.process.exit_code == 0, self.watcher.process.tail()
            return [msgspec.convert(event, Event) for event in tail.read_all()]


@contextmanager
def open_theatre(zookeeper_version: str, log: str, directory: Path) -> Iterator[Theatre]:
    """Three brokers; the log is kept by another Kafka, which no story kills."""
    name = f"stories-{zookeeper_version.replace('.', '')}"
    with (
        Cluster(3, zookeeper_version=zookeeper_version, settings=BROKER_SETTINGS) as cluster,
        WatcherProcess(
            cluster.zookeeper_connect, log, directory, cluster=name, environ=_SAMPLING
        ) as watcher,
    ):
        with closing(LogTail(log, name)) as tail:
            catch_up(watcher, tail)
        sampler = Sampler(cluster.zookeeper_connect, cluster.bootstrap)
        sampler.start()
        try:
            yield Theatre(cluster, watcher, sampler)
        finally:
            sampler.stop()
