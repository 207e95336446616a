"""`--once` ends: with one complete look in the log, or with the reason why there is none."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import nullcontext
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
from watcher.loop import Limits, Loop, now_ms
from watcher.messages import CHANGED, Tick, WatchEvent
from zklake.errors import Fenced, LogError, ZooKeeperError
from zklake.settings.load import load_settings

if TYPE_CHECKING:
    from lab.cluster import Cluster
    from lab.zookeeper import ZooKeeperServer


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
    assert time.monotonic() - started < 60


@pytest.fixture(params=["closed", "silent", "kafka", "unknown name"])
def wrong_address(request: pytest.FixtureRequest, nobody: str) -> Iterator[str]:
    """Addresses where no ZooKeeper is."""
    if request.param == "silent":
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield f"127.0.0.1:{server.getsockname()[1]}"
    elif request.param == "kafka":
        yield request.getfixturevalue("cluster").bootstrap
    else:
        yield nobody if request.param == "closed" else "no-such-host.invalid:2181"


@pytest.mark.integration
def test_a_wrong_address_ends_also_where_nothing_is_written(
    wrong_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {"zookeeper.connect": wrong_address, "watcher.once_patience_s": 2}
    daemon = build_daemon(load_settings(None, flags), dry_run=True, once=True)
    with pytest.raises(ZooKeeperError, match=r"ZooKeeper was away for 2 s"):
        daemon._go_on()
    ops = [
        json.loads(line)["op"] for line in capsys.readouterr().out.splitlines() if line[0] == "{"
    ]
    assert set(ops) <= {"gap", "heartbeat"}
    assert len(ops) < 60, "no more than one a second"


@pytest.mark.integration
def test_a_missing_chroot_is_a_look_that_ends(zookeeper: ZooKeeperServer) -> None:
    flags = {"zookeeper.connect": f"{zookeeper.connect_string}/no/such/chroot"}
    build_daemon(load_settings(None, flags), dry_run=True, once=True)._go_on()


@pytest.fixture
def mortal() -> Iterator[Cluster]:
    """A cluster whose broker may be killed."""
    from lab.cluster import Cluster

    with Cluster() as cluster:
        yield cluster


@pytest.mark.integration
@pytest.mark.parametrize("moment", ["drain", "fence"])
def test_kafka_dies_at_the_worst_moment(
    moment: str, mortal: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after the look was published, or between making the topics and taking the log."""
    owner = Loop if moment == "drain" else Publisher
    real = getattr(owner, moment)

    def die_first(this: Loop | Publisher) -> None:
        if moment == "drain":
            # What came in since the look.
            this.chronicle.handle(Tick(), now_ms())  # type: ignore[union-attr]
        mortal.brokers[0].kill()
        real(this)

    monkeypatch.setattr(owner, moment, die_first)
    flags = {
        "cluster": name_cluster(),
        "zookeeper.connect": mortal.zookeeper_connect,
        "log.bootstrap": mortal.bootstrap,
        "watcher.once_patience_s": 3,
    }
    daemon = build_daemon(load_settings(None, flags), once=True, serves=False)
    with pytest.raises(LogError, match="--once gives up") if moment == "fence" else nullcontext():
        daemon._go_on()
    assert not mortal.brokers[0].is_alive()


def test_a_busy_tree_does_not_keep_it() -> None:
    """Something always waits: for a value, or for Kafka."""
    server: FakeZooKeeper = plant(50, 10)
    with rigged(server, SlowLog(0.02), Limits(buffer_bytes=BUFFER)) as rig:
        deadline = time.monotonic() + 60

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
        simulation.chronicle.allow_audit_reads(0)
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
