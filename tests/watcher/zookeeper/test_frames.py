from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.protocol.serialization import GetChildren2, GetData, Sync

from watcher.messages import NO_NODE, Message, Reply, Request, WatchEvent, ZnodeStat
from watcher.zookeeper.frames import LAST_XID, FrameError, FrameReader, encode

STAT = ZnodeStat(1, 2, 1700000000000, 1700000000001, 3, 4, 5, 0x1000_0000_0000_0001, 6, 7, 8)


def frame(xid: int, zxid: int, error: int, body: bytes = b"") -> bytes:
    return struct.pack(">iiqi", 16 + len(body), xid, zxid, error) + body


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


def stat() -> bytes:
    return struct.pack(">qqqqiiiqiiq", *STAT)


def event(zxid: int, kind: int, path: str) -> bytes:
    return frame(-1, zxid, 0, struct.pack(">ii", kind, 3) + string(path))


def reader(*asked: Request, chroot: str = "", last_xid: int = 0) -> FrameReader:
    result = FrameReader(chroot, last_xid)
    result.asked.extend(asked)
    return result


@pytest.mark.parametrize(
    ("request_", "opcode", "body"),
    [
        (Request("get", "/a"), 4, bytes(GetData("/a", None).serialize())),
        (Request("get", "/a", watch=True), 4, bytes(GetData("/a", True).serialize())),
        (Request("children", "/ü"), 12, bytes(GetChildren2("/ü", None).serialize())),
        (Request("sync", "/"), 9, bytes(Sync("/").serialize())),
        (Request("add_watch", "/"), 106, b"\0\0\0\1/\0\0\0\1"),
    ],
)
def test_requests_stand_on_the_wire_as_zookeeper_reads_them(
    request_: Request, opcode: int, body: bytes
) -> None:
    payload = struct.pack(">ii", 8, opcode) + body
    assert encode([request_], 7, "") == (struct.pack(">i", len(payload)) + payload, 8)


def test_many_requests_are_one_piece_with_rising_xids() -> None:
    frames, last = encode([Request("get", "/a"), Request("get", "/b")], 0, "")
    one, _ = encode([Request("get", "/a")], 0, "")
    two, _ = encode([Request("get", "/b")], 1, "")
    assert (frames, last) == (one + two, 2)


def test_xids_start_again_after_the_last() -> None:
    _, last = encode([Request("get", "/a")] * 2, LAST_XID - 1, "")
    assert last == 1
    found = reader(*[Request("sync", "/")] * 2, last_xid=LAST_XID - 1).feed(
        frame(LAST_XID, 5, 0, string("/")) + frame(1, 5, 0, string("/"))
    )
    assert [message.op for message in found if isinstance(message, Reply)] == ["sync", "sync"]


def test_the_chroot_is_put_before_and_taken_away() -> None:
    frames, _ = encode([Request("get", "/"), Request("get", "/a")], 0, "/käfka")
    assert frames == encode([Request("get", "/käfka"), Request("get", "/käfka/a")], 0, "")[0]
    events = event(9, 3, "/käfka") + event(9, 1, "/käfka/a")
    assert reader(chroot="/käfka").feed(events) == [WatchEvent(9, 3, "/"), WatchEvent(9, 1, "/a")]


@pytest.mark.parametrize("path", ["/zklake-asks-for-AddWatch", "/kafka-sibling", "/kafkb/a", "/k"])
def test_events_outside_the_chroot_are_nobodys(path: str) -> None:
    cutter = reader(chroot="/kafka")
    assert cutter.feed(event(9, 1, path) + event(10, 1, "/kafka/a")) == [WatchEvent(10, 1, "/a")]
    assert cutter.zxid == 10


def test_answers_and_events_come_in_stream_order() -> None:
    asked = (Request("sync", "/"), Request("add_watch", "/"), Request("get", "/a"))
    children = struct.pack(">i", 2) + string("x") + string("ÿ") + stat()
    stream = (
        frame(1, 10, 0, string("/"))
        + frame(2, 10, 0, struct.pack(">i", 0))
        + event(11, 1, "/b")
        + frame(3, 11, 0, struct.pack(">i", 2) + b"hi" + stat())
        + event(12, 2, "/b")
        + frame(4, 12, NO_NODE)
        + frame(5, 12, 0, children)
    )
    cutter = reader(*asked, Request("get", "/b"), Request("children", "/"))
    assert cutter.feed(stream) == [
        Reply("sync", "/", 0, 10),
        Reply("add_watch", "/", 0, 10),
        WatchEvent(11, 1, "/b"),
        Reply("get", "/a", 0, 11, b"hi", STAT),
        WatchEvent(12, 2, "/b"),
        Reply("get", "/b", NO_NODE, 12),
        Reply("children", "/", 0, 12, None, STAT, ["x", "ÿ"]),
    ]
    assert cutter.zxid == 12
    assert not cutter.asked


@pytest.mark.parametrize(("length", "data"), [(-1, None), (0, b"")])
def test_no_data_is_not_empty_data(length: int, data: bytes | None) -> None:
    (reply,) = reader(Request("get", "/a")).feed(frame(1, 1, 0, struct.pack(">i", length) + stat()))
    assert isinstance(reply, Reply)
    assert (reply.data, reply.stat) == (data, STAT)


def test_events_without_a_zxid_do_not_lower_the_highest() -> None:
    cutter = reader()
    assert cutter.feed(event(5, 1, "/a") + event(-1, 3, "/a"))[1] == WatchEvent(-1, 3, "/a")
    assert cutter.zxid == 5


def test_pings_and_auth_are_left_to_kazoo() -> None:
    cutter = reader(Request("sync", "/"))
    ping, auth = frame(-2, 5, 0), frame(-4, 0, 0)
    assert cutter.feed(ping + auth) == []
    assert list(cutter.foreign) == [ping[4:], auth[4:]]
    assert len(cutter.asked) == 1
    cutter.feed(frame(1, 5, 0, string("/")))
    cutter.feed(frame(2, 5, 0))
    assert cutter.foreign[-1] == frame(2, 5, 0)[4:]


def test_an_answer_that_ends_the_session_is_no_message() -> None:
    cutter = reader(Request("get", "/a"), Request("get", "/b"))
    assert cutter.feed(event(4, 1, "/a") + frame(1, 4, -112) + frame(2, 4, -112)) == [
        WatchEvent(4, 1, "/a")
    ]
    assert cutter.fatal == -112


def test_session_notices_are_no_tree_events() -> None:
    assert reader().feed(event(-1, -1, "")) == []


def test_an_answer_out_of_turn_is_refused() -> None:
    with pytest.raises(FrameError, match="answered request 2 where 1 was next"):
        reader(Request("get", "/a")).feed(frame(2, 1, 0))


@pytest.mark.parametrize("length", [-1, 0, 15, 1 << 30])
def test_what_is_no_frame_is_refused(length: int) -> None:
    with pytest.raises(FrameError, match="frame of"):
        reader().feed(struct.pack(">iiqi", length, -1, 1, 0))


@given(st.lists(st.integers(1, 90), max_size=40), st.integers(0, 5000))
def test_any_cutting_of_the_stream_gives_the_same(sizes: list[int], data_length: int) -> None:
    body = struct.pack(">i", data_length) + bytes(data_length) + stat()
    stream = event(1, 1, "/a") + frame(1, 1, 0, body) + event(2, 3, "/a") + frame(-2, 2, 0)
    asked = Request("get", "/a")
    whole = reader(asked).feed(stream)
    cutter, found, at = reader(asked), list[Message](), 0
    for size in sizes:
        found += cutter.feed(stream[at : at + size])
        at += size
    found += cutter.feed(stream[at:])
    assert found == whole
    assert len(cutter.foreign) == 1
