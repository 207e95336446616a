"""The watcher against ZooKeeper's own transaction log: nothing unexplained, no phantoms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.zookeeper import VERSIONS, ZooKeeperServer
from tests.reference.accounting import Accounts, account
from tests.reference.load import run_load
from tests.reference.load_session import close, connect
from tests.reference.tree import fold, restrict
from tests.reference.txnlog import read_dir
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for

if TYPE_CHECKING:
    from lab.cluster import Cluster

pytestmark = pytest.mark.integration

CHROOT = "/kafka"


@pytest.fixture(params=VERSIONS)
def watched(request: pytest.FixtureRequest) -> Iterator[ZooKeeperServer]:
    options = ["-Dznode.container.checkIntervalMs=300"]
    with ZooKeeperServer(version=request.param, jvm_options=options) as server:
        yield server


def judge(server: ZooKeeperServer, tail: LogTail, sealed: frozenset[str]) -> Accounts:
    changes, _ = fold(list(read_dir(server.txn_log_dir)))
    accounts = account(list(restrict(changes, CHROOT)), tail.poll(), sealed)
    print(f"\nZooKeeper {server.version}: {accounts}")
    return accounts


def list_children(address: str, path: str) -> list[str]:
    client = connect(address)
    try:
        return list(client.get_children(path))
    finally:
        close(client)


def test_every_transaction_is_explained(
    watched: ZooKeeperServer, cluster: Cluster, tmp_path: Path
) -> None:
    address = f"{watched.address}{CHROOT}"
    modern = watched.version != "3.4.10"
    first = run_load(address, seed=1, rounds=1, has_containers=modern, seals=True)
    with WatcherProcess(address, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        second = run_load(address, seed=2, rounds=4, has_containers=modern, seals=True)
        wait_for("the end of every TTL znode", lambda: not list_children(address, "/ttl"))
        catch_up(watcher, tail)
        accounts = judge(watched, tail, first.sealed | second.sealed)
        tail.close()
    assert accounts.is_clean, str(accounts)
    # The load has something for each of these; 3.4.10 tells nothing of what it passed over.
    made = ("published", "redacted", "sealed") + (("superseded",) if modern else ())
    assert [name for name in made if not accounts.counts[name]] == []
    assert accounts.counts["in_gap"] == 0 or watched.version == "3.4.10"
