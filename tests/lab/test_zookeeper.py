from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from lab.ensemble import ZooKeeperEnsemble
from lab.zookeeper import VERSIONS, ZooKeeperServer
from zklake.errors import LabError


@contextmanager
def connect(connect_string: str) -> Iterator[KazooClient]:
    client = KazooClient(connect_string, timeout=5)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def test_an_unknown_version_names_the_known_ones() -> None:
    with pytest.raises(LabError, match=r"no ZooKeeper 3\.5\.0 .*3\.9\.3, 3\.8\.4, 3\.4\.10"):
        ZooKeeperServer(version="3.5.0")


@pytest.mark.integration
@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_starts_and_restarts_on_its_data(version: str, tmp_path: Path) -> None:
    with ZooKeeperServer(version=version, directory=tmp_path) as server:
        assert f"Zookeeper version: {version}" in server.ask("srvr")
        assert server.mode() == "standalone"
        with connect(server.connect_string) as client:
            client.create("/kept", b"data")
        first_pid = server.pid
        server.kill()
        server.restart()
        assert server.pid != first_pid
        with connect(server.connect_string) as client:
            assert client.get("/kept")[0] == b"data"
        assert any(path.name.startswith("log.") for path in server.txn_log_dir.iterdir())
    assert not server.is_alive()


@pytest.mark.integration
def test_a_paused_server_does_not_answer_until_resumed() -> None:
    with ZooKeeperServer() as server:
        directory = server.directory
        server.pause()
        assert server.is_alive()
        assert server.ask("srvr", timeout_s=0.5) == ""
        server.resume()
        assert server.is_ready()
    assert not directory.exists()


@pytest.mark.integration
def test_an_ensemble_survives_kill_9_of_its_leader() -> None:
    with ZooKeeperEnsemble(3) as ensemble:
        leader = ensemble.leader()
        assert leader is not None
        assert len(ensemble.followers()) == 2
        with connect(ensemble.connect_string) as client:
            client.create("/kept", b"before")
            leader.kill()
            ensemble.wait_ready()
            assert ensemble.leader() not in (None, leader)
            client.retry(client.set, "/kept", b"after")
        leader.restart()
        ensemble.wait_ready()
        assert len(ensemble.followers()) == 2
        with connect(leader.connect_string) as client:
            client.sync("/kept")
            assert client.get("/kept")[0] == b"after"


@pytest.mark.integration
def test_an_ensemble_survives_a_frozen_leader() -> None:
    with ZooKeeperEnsemble(3) as ensemble:
        leader = ensemble.leader()
        assert leader is not None
        leader.pause()
        ensemble.wait_ready()
        assert ensemble.leader() not in (None, leader)
        leader.resume()
        ensemble.wait_ready()
        assert leader.mode() == "follower"


@pytest.mark.integration
def test_chroots_are_fresh(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with connect(zookeeper.connect_string + chroot) as client:
        assert client.get_children("/") == []
