"""Whatever breaks: the same accounting, and a seq without hole or repeat."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient

from lab.cluster import Cluster
from lab.ensemble import ZooKeeperEnsemble
from lab.zookeeper import ZooKeeperServer
from tests.proxy import Proxy
from tests.reference.accounting import Accounts, account
from tests.reference.completeness import read_majority
from tests.reference.tree import fold, restrict
from tests.reference.txnlog import Txn, read_dir
from tests.watcher.crashing import STEPS
from tests.watcher.storm import Storm
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server() -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer() as server:
        yield server


@pytest.fixture(scope="module", params=["3.9.3", "3.8.4"])
def each_server(request: pytest.FixtureRequest) -> Iterator[ZooKeeperServer]:
    """With zxids in its events, and without."""
    with ZooKeeperServer(version=request.param) as server:
        yield server


@pytest.fixture
def chroot() -> str:
    return f"/kafka-{uuid.uuid4().hex[:8]}"


def judge(txns: Iterable[Txn], chroot: str, tail: LogTail, title: str) -> Accounts:
    tail.read_all()
    changes, _ = fold(list(txns))
    accounts = account(list(restrict(changes, chroot)), tail.events)
    print(f"\n{title}: {accounts}")
    assert accounts.is_clean, str(accounts)
    assert not accounts.ends_in_gap
    return accounts


@pytest.mark.parametrize("step", STEPS)
def test_kill_at(
    step: str, server: ZooKeeperServer, cluster: Cluster, chroot: str, tmp_path: Path
) -> None:
    address = server.address + chroot
    with Storm(address) as storm, WatcherProcess(address, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        time.sleep(0.5)
        watcher.process.kill()
        watcher.start(crash=(step, 3))
        watcher.wait_for_crash()
        watcher.start()
        time.sleep(1)
        storm.stop()
        catch_up(watcher, tail)
    accounts = judge(read_dir(server.txn_log_dir), chroot, tail, f"kill -9 at {step}")
    tail.close()
    assert accounts.counts["published"] > 0


def test_sigstop_longer_than_the_session(
    each_server: ZooKeeperServer, cluster: Cluster, chroot: str, tmp_path: Path
) -> None:
    address = each_server.address + chroot
    environ = {"ZKLAKE_ZOOKEEPER__SESSION_TIMEOUT_MS": "1000"}
    with (
        Storm(address) as storm,
        WatcherProcess(address, cluster.bootstrap, tmp_path, environ=environ) as watcher,
    ):
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        watcher.process.pause()
        time.sleep(3)
        watcher.process.resume()
        wait_for("the gap", lambda: len([e for e in tail.poll() if e["op"] == "gap"]) > 1)
        storm.stop()
        catch_up(watcher, tail)
    judge(read_dir(each_server.txn_log_dir), chroot, tail, "SIGSTOP")
    reasons = {e["gap"]["reason"] for e in tail.events if e["op"] == "gap"}
    tail.close()
    assert "session_expired" in reasons


def test_cut_connection(
    each_server: ZooKeeperServer, cluster: Cluster, chroot: str, tmp_path: Path
) -> None:
    with Storm(each_server.address + chroot) as storm, Proxy(each_server.port) as proxy:
        address = proxy.address + chroot
        with WatcherProcess(address, cluster.bootstrap, tmp_path) as watcher:
            tail = LogTail(cluster.bootstrap, watcher.cluster)
            wait_for("in sync", lambda: tail.find(op="in_sync"))
            for _ in range(3):
                time.sleep(0.4)
                proxy.cut()
            storm.stop()
            catch_up(watcher, tail)
        accounts = judge(read_dir(each_server.txn_log_dir), chroot, tail, "TCP cut 3 times")
        tail.close()
    assert accounts.counts["published"] > 0


@pytest.mark.faults
def test_kill_of_the_connected_server(cluster: Cluster, chroot: str, tmp_path: Path) -> None:
    with ZooKeeperEnsemble(3) as ensemble:
        address = ensemble.connect_string + chroot
        with (
            Storm(address) as storm,
            WatcherProcess(address, cluster.bootstrap, tmp_path) as watcher,
        ):
            tail = LogTail(cluster.bootstrap, watcher.cluster)
            wait_for("in sync", lambda: tail.find(op="in_sync"))
            for _ in range(2):
                victim = _connected(ensemble, watcher)
                victim.kill()
                time.sleep(2)
                victim.start()
                time.sleep(1)
            storm.stop()
            catch_up(watcher, tail)
        txns = read_majority([s.txn_log_dir for s in ensemble.servers])
        accounts = judge(txns, chroot, tail, "kill -9 of the connected server, ensemble of 3")
        tail.close()
    assert accounts.counts["published"] > 0


def _connected(ensemble: ZooKeeperEnsemble, watcher: WatcherProcess) -> ZooKeeperServer:
    """The server that the watcher's own log says it is connected to."""
    said = [
        line for line in watcher.process.tail(200).splitlines() if "zookeeper connected" in line
    ]
    return next(s for s in ensemble.servers if s.address in said[-1])


def test_kafka_down_and_back(server: ZooKeeperServer, chroot: str, tmp_path: Path) -> None:
    address = server.address + chroot
    with (
        Cluster() as kafka,
        Storm(address) as storm,
        WatcherProcess(address, kafka.bootstrap, tmp_path) as watcher,
    ):
        tail = LogTail(kafka.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        (broker,) = kafka.brokers
        broker.kill()
        time.sleep(5)
        broker.start()
        storm.stop()
        catch_up(watcher, tail, 90)
        accounts = judge(read_dir(server.txn_log_dir), chroot, tail, "Kafka away for 5 s and more")
        tail.close()
    assert accounts.counts["published"] > 0


@pytest.mark.faults
def test_kafka_away_longer_than_the_buffer(
    server: ZooKeeperServer, chroot: str, tmp_path: Path
) -> None:
    address = server.address + chroot
    environ = {"ZKLAKE_WATCHER__BUFFER_BYTES": str(1 << 20)}
    with (
        Cluster() as kafka,
        Storm(address, rate=1000) as storm,
        WatcherProcess(address, kafka.bootstrap, tmp_path, environ=environ) as watcher,
    ):
        tail = LogTail(kafka.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        (broker,) = kafka.brokers
        broker.pause()
        wait_for("letting go", lambda: "disconnecting from ZooKeeper" in watcher.process.tail(50))
        broker.resume()
        storm.stop()
        catch_up(watcher, tail, 90)
        judge(read_dir(server.txn_log_dir), chroot, tail, "buffer full")
        reasons = {e["gap"]["reason"] for e in tail.events if e["op"] == "gap"}
        tail.close()
        assert "backpressure" in reasons


@pytest.mark.parametrize("lost", ["tree", "head"])
def test_lost_topic_heals_by_a_base_frame(
    lost: str, server: ZooKeeperServer, cluster: Cluster, chroot: str, tmp_path: Path
) -> None:
    address = server.address + chroot
    with Storm(address) as storm, WatcherProcess(address, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        watcher.process.kill()
        last = tail.poll()[-1]["seq"]
        _lose(lost, cluster.bootstrap, watcher.cluster)
        watcher.start()
        storm.stop()
        catch_up(watcher, tail)
        frames = [e["frame"] for e in tail.events if e["op"] == "in_sync" and e["seq"] > last]
        tail.close()
    assert frames[-1]["base"] == "none"
    seqs = [e["seq"] for e in tail.events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    reasons = [e["gap"]["reason"] for e in tail.events if e["op"] == "gap" and e["seq"] > last]
    assert reasons[0] == "model_lost"


def _lose(what: str, bootstrap: str, cluster: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = f"zklake.{cluster}"
    if what == "tree":
        admin.delete_topics([f"{topic}.tree"])[f"{topic}.tree"].result(30)
    else:
        everything = TopicPartition(topic, 0, -1)
        admin.delete_records([everything])[TopicPartition(topic, 0)].result(30)


def test_ensemble_restored_from_an_older_backup(cluster: Cluster, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with ZooKeeperServer(directory=tmp_path / "zookeeper") as server:
        _write(server, "/kept")
        server.stop()
        shutil.copytree(server.data_dir, backup)
        server.start()
        for number in range(50):
            _write(server, f"/lost-{number}")
        with WatcherProcess(server.address, cluster.bootstrap, tmp_path) as watcher:
            tail = LogTail(cluster.bootstrap, watcher.cluster)
            wait_for("in sync", lambda: tail.find(op="in_sync"))
            server.stop()
            shutil.rmtree(server.data_dir)
            shutil.copytree(backup, server.data_dir)
            server.start()
            catch_up(watcher, tail)
            events = tail.read_all()
            tail.close()
    reasons = [e["gap"]["reason"] for e in events if e["op"] == "gap"]
    assert "history_reset" in reasons
    # Nothing the other history said can be compared: a base frame tells what there is now.
    begun = max(i for i, e in enumerate(events) if e["op"] == "frame_begin")
    (end,) = [e for e in events[begun:] if e["op"] == "in_sync"]
    assert end["frame"]["base"] == "none"
    there = {e["path"] for e in events[begun:] if e["op"] == "read"}
    assert "/kept" in there
    assert not any(path.startswith("/lost-") for path in there)


def _write(server: ZooKeeperServer, path: str) -> None:
    client = KazooClient(server.address)
    client.start()
    client.create(path, b"")
    client.stop()
    client.close()
