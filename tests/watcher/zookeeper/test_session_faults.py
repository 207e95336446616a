from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from structlog.testing import capture_logs

from lab.ensemble import ZooKeeperEnsemble
from lab.zookeeper import ZooKeeperServer
from tests.proxy import Proxy
from tests.watcher.zookeeper.reading import reading, writing
from watcher.messages import CREATED, Request, WatchEvent

pytestmark = pytest.mark.integration


def test_a_cut_connection_comes_back_in_the_same_session(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    with (
        Proxy(zookeeper.port) as proxy,
        writing(zookeeper.connect_string + chroot) as writer,
        reading(proxy.address + chroot) as core,
    ):
        core.wait_changes("connected")
        core.watch()
        session_id = core.connected.session_id
        for expected in (2, 3, 4):
            proxy.cut()
            core.wait_changes(*["connected", "disconnected"] * (expected - 1), "connected")
        assert core.connected.session_id == session_id
        writer.create("/unwatched")
        core.ask(Request("sync", "/"))
        assert core.events == []
        core.watch()
        writer.create("/watched")
        core.wait(lambda: bool(core.events))
        assert core.events[0].path == "/watched"


def test_no_answer_outlives_its_connection(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with Proxy(zookeeper.port) as proxy, reading(proxy.address + chroot) as core:
        core.wait_changes("connected")
        proxy.pause()
        core.session.send([Request("get", "/")] * 500)
        time.sleep(0.2)
        proxy.cut()
        proxy.resume()
        while not (core.session.connected and core.session._memory.connections == 2):
            time.sleep(0.01)
        # The second connection is up, but the core has not yet heard of the end of the first.
        core.session.send([Request("get", "/old")])
        core.wait_changes("connected", "disconnected")
        core.session.send([Request("get", "/old")])
        core.wait_changes("connected", "disconnected", "connected")
        assert [reply.path for reply in core.ask(Request("get", "/"))] == ["/"]
        core.take(0.2)
        assert [reply.path for reply in core.replies] == ["/"]


def test_a_mute_server_is_left(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with (
        Proxy(zookeeper.port) as proxy,
        reading(proxy.address + chroot, session_timeout_ms=3_000) as core,
    ):
        core.wait_changes("connected")
        assert core.connected.timeout_ms == 3_000
        proxy.pause()
        deadline = time.monotonic() + 60
        # Even while the core goes on asking, which kazoo takes for a sign of life.
        while core.changes == ["connected"] and time.monotonic() < deadline:
            core.session.send([Request("get", "/")])
            core.take(0.1)
        assert core.changes == ["connected", "disconnected"]
        proxy.resume()
        core.wait(lambda: core.changes[-1] == "connected")


def test_a_session_ended_by_the_server_is_told_and_replaced(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    with reading(zookeeper.connect_string + chroot) as core:
        core.wait_changes("connected")
        old, client = core.connected.session_id, core.session._client
        thief = KazooClient(zookeeper.connect_string, client_id=client.client_id)
        thief.start()
        thief.stop()
        thief.close()
        core.wait(lambda: "session_expired" in core.changes)
        core.wait(lambda: core.changes[-1] == "connected")
        assert core.changes[:2] == ["connected", "disconnected"]
        assert core.connected.session_id != old


def test_a_killed_server_comes_back(tmp_path: Path) -> None:
    with (
        ZooKeeperServer(directory=tmp_path) as server,
        reading(server.connect_string, session_timeout_ms=10_000) as core,
    ):
        core.wait_changes("connected")
        session_id = core.connected.session_id
        server.kill()
        core.wait_changes("connected", "disconnected")
        server.restart()
        core.wait_changes("connected", "disconnected", "connected")
        assert core.connected.session_id == session_id
        core.watch()


def test_another_member_takes_over(tmp_path: Path) -> None:
    with ZooKeeperEnsemble(3) as ensemble, reading(ensemble.connect_string) as core:
        core.wait_changes("connected")
        session_id, address = core.connected.session_id, core.session.server
        next(server for server in ensemble.servers if server.address == address).kill()
        core.wait_changes("connected", "disconnected", "connected")
        assert core.connected.session_id == session_id
        assert core.session.server != address
        core.watch()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_connection_thread_is_replaced(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with reading(zookeeper.connect_string + chroot) as core:
        core.wait_changes("connected")
        connection = core.session._connection
        assert connection is not None
        thread = connection._connection_routine
        # Whatever it may be: kazoo's thread ends at any exception it does not know.
        connection._send_batch = None  # type: ignore[assignment,method-assign]
        core.session.send([Request("get", "/")])
        core.wait_changes("connected", "disconnected", "connected")
        assert not thread.is_alive()
        assert core.ask(Request("get", "/"))[0].error == 0


def test_garbage_on_the_wire_breaks_only_the_connection(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    with Proxy(zookeeper.port) as proxy, reading(proxy.address + chroot) as core:
        core.wait_changes("connected")
        session_id = core.connected.session_id
        proxy.send_to_client(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        core.wait_changes("connected", "disconnected", "connected")
        assert core.connected.session_id == session_id


def test_refused_credentials_are_tried_again(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with reading(zookeeper.connect_string + chroot, auth=[("no-such-scheme", "x")]) as core:
        core.wait(lambda: core.session._rebuild_s > 1)
        assert core.changes == []
        assert "AuthFailed" in core.session.last_error
        core.session._auth.clear()
        core.wait_changes("connected")


def test_history_that_went_back_is_told(tmp_path: Path) -> None:
    with ZooKeeperServer(directory=tmp_path / "server") as server:
        with writing(server.connect_string) as writer:
            writer.create("/a")
        server.stop()
        shutil.copytree(server.data_dir, tmp_path / "backup")
        server.restart()
        with writing(server.connect_string) as writer, reading(server.connect_string) as core:
            core.wait_changes("connected")
            core.watch()
            for number in range(100):
                writer.create(f"/n{number}")
            core.wait(lambda: len(core.events) == 100)
            floor = core.session.last_zxid_seen
            server.stop()
            shutil.rmtree(server.data_dir)
            shutil.copytree(tmp_path / "backup", server.data_dir)
            server.restart()
            core.wait(lambda: "history_reset" in core.changes)
            core.wait(lambda: core.changes[-1] == "connected")
            assert core.session.last_zxid_seen < floor
            assert core.ask(Request("get", "/n5"))[0].error != 0


def test_a_floor_from_an_earlier_life_is_kept_or_told(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    with reading(zookeeper.connect_string + chroot) as core:
        core.wait_changes("connected")
        core.ask(Request("sync", "/"))
        floor = core.session.last_zxid_seen
    with reading(zookeeper.connect_string + chroot, zxid_floor=floor) as core:
        core.wait_changes("connected")
        assert core.session.last_zxid_seen >= floor
    with reading(zookeeper.connect_string + chroot, zxid_floor=1 << 40) as core:
        core.wait_changes("history_reset", "connected")
        assert core.session.last_zxid_seen < 1 << 40


def test_refusals_are_no_reset_and_told_once(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with (
        Proxy(zookeeper.port) as proxy,
        capture_logs() as lines,
        reading(proxy.address + chroot) as core,
    ):
        core.wait_changes("connected")
        proxy.refuse()
        proxy.cut()
        core.wait(lambda: core.session._memory.refusals > 4)
        proxy.refuse(False)
        core.wait_changes("connected", "disconnected", "connected")
        told = [line["event"] for line in lines]
        assert told == ["zookeeper connected", "zookeeper away", "zookeeper connected"]


def test_letting_go_closes_the_session_until_resumed(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    connect = zookeeper.connect_string + chroot
    with writing(connect) as writer, reading(connect) as core:
        core.wait_changes("connected")
        core.watch()
        session_id = core.connected.session_id
        core.session.let_go()
        core.wait_changes("connected", "backpressure")
        assert f"{session_id:x}" not in zookeeper.ask("cons")
        core.session.send([Request("get", "/")])
        writer.create("/unseen")
        core.take(0.5)
        assert core.changes == ["connected", "backpressure"]
        core.session.resume()
        core.wait_changes("connected", "backpressure", "connected")
        assert core.connected.session_id != session_id
        assert (core.events, core.replies[2:]) == ([], [])


def test_a_core_that_does_not_keep_up_loses_the_connection_not_the_memory(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    connect = zookeeper.connect_string + chroot
    with writing(connect) as writer, reading(connect, limit_bytes=100_000) as core:
        core.wait_changes("connected")
        core.watch()
        for number in range(1_000):
            writer.create_async(f"/n{number}")
        writer.sync("/")
        time.sleep(1)
        assert core.inbox.waiting_bytes < 300_000
        core.wait_changes("connected", "backpressure", "connected")
        assert core.events[0] == WatchEvent(core.events[0].zxid, CREATED, "/n0")


def test_closing_does_not_wait_for_a_mute_server(zookeeper: ZooKeeperServer, chroot: str) -> None:
    with Proxy(zookeeper.port) as proxy, reading(proxy.address + chroot) as core:
        core.wait_changes("connected")
        proxy.pause()
        started = time.monotonic()
        core.session.close()
        assert time.monotonic() - started < 4
        core.wait_changes("connected", "restart")


def test_an_absent_server_is_waited_for(tmp_path: Path) -> None:
    server = ZooKeeperServer(directory=tmp_path)
    with reading(server.connect_string) as core:
        core.take(1.0)
        assert core.changes == []
        assert core.session.last_error
        with server:
            core.wait_changes("connected")
