"""`--once` ends: with one complete look in the log, or with the reason why there is none."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.watcher.fake_zookeeper import FakeZooKeeper
from tests.watcher.log.writing import make_batch, name_cluster
from tests.watcher.simulation import Simulation
from tests.watcher.test_loop import BUFFER, SlowLog, plant, rigged
from watcher.assembly import build_daemon
from watcher.log.publisher import Publisher
from watcher.log.standby import wait_for_silence
from watcher.log.topics import ensure_topics
from watcher.loop import Limits
from watcher.messages import CHANGED, Tick, WatchEvent
from zklake.errors import Fenced, ZooKeeperError
from zklake.settings.load import load_settings

if TYPE_CHECKING:
    from lab.cluster import Cluster


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def nobody() -> str:
    """An address where nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def test_zookeeper_away_is_not_waited_for_without_end(nobody: str) -> None:
    flags = {"zookeeper.connect": nobody, "watcher.once_patience_s": 1}
    daemon = build_daemon(load_settings(None, flags), dry_run=True, once=True)
    started = time.monotonic()
    with pytest.raises(ZooKeeperError, match=r"ZooKeeper was away for 1 s .*once_patience_s"):
        daemon._go_on()
    assert time.monotonic() - started < 10


def test_a_busy_tree_does_not_keep_it() -> None:
    """Something always waits: for a value, or for Kafka."""
    server: FakeZooKeeper = plant(50, 10)
    with rigged(server, SlowLog(0.02), Limits(buffer_bytes=BUFFER)) as rig:
        deadline = time.monotonic() + 15

        def is_over(published: bool) -> bool:
            server.set("/n00000", b"again")
            server.stream.clear()
            if rig.loop.chronicle.in_sync:
                rig.inbox.put([WatchEvent(server.zxid, CHANGED, "/n00000")])
            return published or time.monotonic() > deadline

        rig.loop.run(is_over, lambda: False)
        assert time.monotonic() < deadline
        assert any(event.op == "in_sync" for event in rig.log.events)


def test_no_audit_begins_for_one_look() -> None:
    settings = load_settings(None, {"watcher.audit_reads_per_second": 50})
    assert build_daemon(settings, once=True)._limits.audit_reads_per_second == 0
    assert build_daemon(settings)._limits.audit_reads_per_second == 50


def test_a_frame_that_is_wanted_makes_an_audit_hurry() -> None:
    simulation = Simulation(1)
    simulation.run(100)
    simulation.chronicle.want_audit()
    simulation.chronicle.want_frame()
    for _ in range(1000):
        # The audit's allowance is used up.
        simulation.chronicle.audit_allowance = 0
        simulation.answer()
        simulation.deliver()
        simulation.handle(Tick())
    assert simulation.chronicle.is_scanned
    simulation.commit_all()
    frames = [e.op for e in simulation.log.events() if e.op in ("frame_begin", "in_sync")]
    assert frames[-2:] == ["frame_begin", "in_sync"]


@pytest.mark.integration
def test_a_living_watcher_is_not_waited_for_and_a_dead_one_is_followed(cluster: Cluster) -> None:
    name = name_cluster()
    ensure_topics(cluster.bootstrap, {}, name)
    publisher = Publisher(cluster.bootstrap, {}, name)
    publisher.fence()
    publisher.publish(make_batch(1))
    started = time.monotonic()
    assert wait_for_silence(cluster.bootstrap, {}, name, takeover_after_ms=2000, once=True)
    assert time.monotonic() - started >= 2
    publisher.publish(make_batch(2))
    beats = iter(range(3, 1000))

    def beat() -> bool:
        publisher.publish(make_batch(next(beats)))
        return False

    with pytest.raises(Fenced, match=r"another watcher is writing .* give --take-over"):
        wait_for_silence(cluster.bootstrap, {}, name, once=True, stopping=beat)
    publisher.close()
