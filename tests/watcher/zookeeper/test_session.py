from __future__ import annotations

import random

import pytest
from kazoo.security import make_digest_acl

from lab.zookeeper import ZooKeeperServer
from tests.watcher.zookeeper.reading import reading, writing
from watcher.messages import CHANGED, CHILD, CREATED, DELETED, NO_AUTH, NO_NODE, Request, WatchEvent
from watcher.zookeeper import greeting
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.errors import ZooKeeperError


@pytest.mark.parametrize("connect", ["", "a:b", "a:1/../x"])
def test_a_wrong_address_is_told_at_once(connect: str) -> None:
    with pytest.raises(ZooKeeperError, match="is not host:port"):
        ZooKeeperSession(connect, Inbox())


def test_closing_what_never_started_returns() -> None:
    session = ZooKeeperSession("127.0.0.1:1", Inbox())
    session.send([Request("get", "/")])
    session.close()
    assert (session.connected, session.server) == (False, None)


@pytest.mark.integration
def test_ten_thousand_operations_arrive_in_order(zookeeper: ZooKeeperServer, chroot: str) -> None:
    connect = zookeeper.connect_string + chroot
    chance, alive, expected = random.Random(4), list[str](), list[tuple[int, str]]()
    with writing(connect) as writer, reading(connect) as core:
        core.wait_changes("connected")
        core.watch()
        pending = []
        for number in range(10_000):
            choice = chance.random()
            if choice < 0.4 or not alive:
                path = f"/n{number}"
                pending.append(writer.create_async(path, b"1"))
                alive.append(path)
                expected.append((CREATED, path))
            elif choice < 0.8:
                path = chance.choice(alive)
                pending.append(writer.set_async(path, b"2"))
                expected.append((CHANGED, path))
            else:
                path = alive.pop(chance.randrange(len(alive)))
                pending.append(writer.delete_async(path))
                expected.append((DELETED, path))
            if len(pending) == 200:
                for result in pending:
                    result.get()
                pending.clear()
        core.wait(lambda: len(core.events) >= len(expected))
        assert [(event.type, event.path) for event in core.events] == expected
        zxids = [event.zxid for event in core.events]
        assert zxids == sorted(set(zxids))
        assert core.session.last_zxid_seen >= zxids[-1]
        assert core.changes == ["connected"]


@pytest.mark.integration
def test_multi_and_session_close_are_one_event_per_znode(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    connect = zookeeper.connect_string + chroot
    with writing(connect) as writer, reading(connect) as core:
        core.wait_changes("connected")
        core.watch()
        multi = writer.transaction()
        multi.create("/a")
        multi.set_data("/a", b"1")
        multi.set_data("/a", b"2")
        multi.commit()
        with writing(connect) as other:
            other.create("/e1", ephemeral=True)
            other.create("/e2", ephemeral=True)
        core.wait(lambda: len(core.events) >= 7)
        zxid = core.events[0].zxid
        assert core.events[:3] == [
            WatchEvent(zxid, kind, "/a") for kind in (CREATED, CHANGED, CHANGED)
        ]
        assert {(event.type, event.path) for event in core.events[5:]} == {
            (DELETED, "/e1"),
            (DELETED, "/e2"),
        }
        assert core.events[5].zxid == core.events[6].zxid


@pytest.mark.integration
def test_requests_sent_all_at_once_are_answered_in_order(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    with reading(zookeeper.connect_string + chroot) as core:
        core.wait_changes("connected")
        requests = [Request("get", "/" if i % 2 else f"/none{i}") for i in range(20_000)]
        replies = core.ask(*requests)
        assert [reply.path for reply in replies] == [request.path for request in requests]
        assert {reply.error for reply in replies} == {0, NO_NODE}
        for request in requests[:2_000]:
            core.session.send([request])
        core.wait(lambda: len(core.replies) == 22_000)


@pytest.mark.integration
def test_paths_are_relative_to_the_chroot(zookeeper: ZooKeeperServer, chroot: str) -> None:
    connect = zookeeper.connect_string + chroot
    with (
        writing(zookeeper.connect_string) as outside,
        writing(connect) as writer,
        reading(connect + "/") as core,
    ):
        core.wait_changes("connected")
        core.watch()
        outside.create(chroot + "-sibling")
        # The path by which the connection was asked for AddWatch, as seen from outside and inside.
        outside.ensure_path(greeting.PROBE_PATH)
        writer.create(greeting.PROBE_PATH)
        writer.create("/a", b"data")
        writer.set("/", b"root")
        core.wait(lambda: len(core.events) >= 3)
        assert [(event.type, event.path) for event in core.events] == [
            (CREATED, greeting.PROBE_PATH),
            (CREATED, "/a"),
            (CHANGED, "/"),
        ]
        get, children = core.ask(Request("get", "/a"), Request("children", "/"))
        assert (get.path, get.data) == ("/a", b"data")
        assert (children.path, sorted(children.children or ())) == (
            "/",
            ["a", greeting.PROBE_PATH[1:]],
        )
        assert children.stat is not None
        assert children.stat.num_children == 2


@pytest.mark.integration
def test_a_missing_chroot_can_be_watched(zookeeper: ZooKeeperServer, chroot: str) -> None:
    connect = f"{zookeeper.connect_string}{chroot}/later"
    with writing(zookeeper.connect_string) as writer, reading(connect) as core:
        core.wait_changes("connected")
        core.watch()
        assert core.ask(Request("get", "/"))[0].error == NO_NODE
        writer.create(chroot + "/later")
        writer.create(chroot + "/later/a")
        core.wait(lambda: len(core.events) >= 2)
        assert [event.path for event in core.events] == ["/", "/a"]


@pytest.mark.integration
def test_a_digest_opens_what_the_world_may_not_read(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    connect = zookeeper.connect_string + chroot
    acl = [make_digest_acl("watcher", "secret", read=True)]
    with writing(connect) as writer:
        writer.create("/closed", b"hidden", acl=acl)
    with reading(connect) as core:
        core.wait_changes("connected")
        assert core.ask(Request("get", "/closed"))[0].error == NO_AUTH
        core.session.renew_auth("digest", "watcher:secret")
        assert core.ask(Request("get", "/closed"))[0].data == b"hidden"
    with reading(connect, auth=[("digest", "watcher:secret")]) as core:
        core.wait_changes("connected")
        assert core.ask(Request("get", "/closed"))[0].data == b"hidden"


@pytest.mark.integration
def test_events_before_3_9_carry_no_zxid() -> None:
    with (
        ZooKeeperServer(version="3.8.4") as server,
        writing(server.connect_string) as writer,
        reading(server.connect_string) as core,
    ):
        core.wait_changes("connected")
        assert core.connected.recursive
        core.watch()
        writer.create("/a")
        core.wait(lambda: bool(core.events))
        assert core.events == [WatchEvent(-1, CREATED, "/a")]


@pytest.mark.integration
def test_servers_before_3_6_give_one_shot_watches() -> None:
    with (
        ZooKeeperServer(version="3.4.10") as server,
        writing(server.connect_string) as writer,
        reading(server.connect_string) as core,
    ):
        core.wait_changes("connected")
        assert not core.connected.recursive
        writer.create("/a", b"1")
        core.ask(Request("children", "/", watch=True), Request("get", "/a", watch=True))
        writer.create("/b")
        writer.create("/c")
        writer.set("/a", b"2")
        writer.delete("/a")
        core.wait(lambda: len(core.events) >= 2)
        core.ask(Request("sync", "/"))
        assert core.events == [WatchEvent(-1, CHILD, "/"), WatchEvent(-1, CHANGED, "/a")]


@pytest.mark.integration
def test_a_large_value_and_many_children_come_whole(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    connect = zookeeper.connect_string + chroot
    value = random.Random(1).randbytes(1_000_000)
    names = [f"child-with-a-long-name-{i:06}" for i in range(200)]
    with writing(connect) as writer, reading(connect) as core:
        writer.create("/large", value)
        writer.create("/wide")
        for result in [writer.create_async(f"/wide/{name}") for name in names]:
            result.get()
        core.wait_changes("connected")
        requests = [Request("get", "/large"), Request("children", "/wide")] * 5
        replies = core.ask(*requests)
        assert all(reply.data == value for reply in replies[::2])
        assert all(sorted(reply.children or ()) == names for reply in replies[1::2])
