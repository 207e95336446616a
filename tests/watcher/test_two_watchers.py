"""Two supervised watchers of one cluster: one writes, the other waits, nobody plays ping-pong."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.reference.accounting import Accounts, account
from tests.reference.tree import fold, restrict
from tests.reference.txnlog import read_dir
from tests.watcher.storm import Storm
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for
from zklake.errors import Fenced

if TYPE_CHECKING:
    from lab.cluster import Cluster
    from lab.zookeeper import ZooKeeperServer

SHORT_S, LONG_S = 6.0, 300.0


@pytest.mark.integration
def test_take_over_fences_the_other(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, tmp_path: Path
) -> None:
    address = zookeeper.address + chroot
    with WatcherProcess(address, cluster.bootstrap, tmp_path) as first:
        tail = LogTail(cluster.bootstrap, first.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        with WatcherProcess(address, cluster.bootstrap, tmp_path, cluster=first.cluster) as second:
            wait_for("fenced", lambda: first.process.exit_code is not None)
            assert first.process.exit_code == Fenced.exit_code, first.process.tail()
            catch_up(second, tail)
            events = tail.read_all()
            tail.close()
    seqs = [event["seq"] for event in events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


@pytest.mark.integration
def test_a_clean_stop_lets_the_next_one_in_at_once(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, tmp_path: Path
) -> None:
    address = zookeeper.address + chroot
    with WatcherProcess(address, cluster.bootstrap, tmp_path, options=()) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        watcher.process.stop()
        assert watcher.process.exit_code == 0
        watcher.start()
        catch_up(watcher, tail)
        tail.close()
    assert '"event": "standby"' not in watcher.log_file.read_text()


@pytest.mark.integration
def test_standby_waits_then_takes_over(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, tmp_path: Path
) -> None:
    restarts, accounts = supervise(zookeeper, chroot, cluster, tmp_path, SHORT_S)
    assert restarts == 1, "one take-over, no ping-pong"
    assert accounts.is_clean, str(accounts)


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_five_minutes_of_two_watchers(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, tmp_path: Path
) -> None:
    restarts, accounts = supervise(zookeeper, chroot, cluster, tmp_path, LONG_S)
    assert restarts == 1, "one take-over, no ping-pong"
    assert accounts.is_clean, str(accounts)


def supervise(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, tmp_path: Path, seconds: float
) -> tuple[int, Accounts]:
    """Both run; the writer is killed once; whoever ends is started again, as systemd would.

    Returns how many gaps are a restart's, and what became of each change.
    """
    address = zookeeper.address + chroot
    environ = {"ZKLAKE_WATCHER__TAKEOVER_AFTER_MS": "3000"}
    with (
        Storm(address, rate=50) as storm,
        WatcherProcess(address, cluster.bootstrap, tmp_path, environ=environ, options=()) as first,
    ):
        tail = LogTail(cluster.bootstrap, first.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        with WatcherProcess(
            address, cluster.bootstrap, tmp_path,
            cluster=first.cluster, environ=environ, options=(),
        ) as second:  # fmt: skip
            time.sleep(seconds / 2)
            wait_for("the standby", lambda: "standby" in second.log_file.read_text())
            assert second.process.is_alive()
            first.process.kill()
            first.start()
            time.sleep(seconds / 2)
            wait_for("the take-over", lambda: "log taken" in second.log_file.read_text())
            storm.stop()
            catch_up(second, tail)
            assert first.process.is_alive()
            events = tail.read_all()
            tail.close()
    # A gap event with lives counts what one gap hid under a parent; it is no gap of its own.
    gaps = [e["gap"] for e in events if e["op"] == "gap" and "lives" not in e["gap"]]
    restarts = [gap for gap in gaps if gap["reason"] == "restart"]
    changes, _ = fold(list(read_dir(zookeeper.txn_log_dir)))
    accounts = account(list(restrict(changes, chroot)), events)
    print(f"\ntwo watchers for {seconds:.0f} s: {accounts}")
    return len(restarts), accounts
