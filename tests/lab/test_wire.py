from __future__ import annotations

import socket
import struct
import threading

import pytest

from lab.stories.raw_requests import alter_quotas, alter_reassignment
from lab.wire import Connection, frame, pack_string
from zklake.errors import LabError

CLIENT = b"\0\x0azklake-lab"
# Of Kafka's errors: INVALID_REQUEST.
REFUSED = 42


class Broker:
    """Answers each request with the next of these, and keeps what it was asked."""

    def __init__(self, *answers: bytes) -> None:
        self.asked: list[bytes] = []
        self._answers = answers
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Broker:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.join(10)
        self._server.close()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection, connection.makefile("rb") as stream:
            for answer in self._answers:
                (length,) = struct.unpack(">i", stream.read(4))
                self.asked.append(stream.read(length))
                connection.sendall(struct.pack(">ii", 4 + len(answer), 0) + answer)


def test_a_frame_says_its_length_api_version_and_client() -> None:
    head = struct.pack(">hhi", 10, 1, 0) + CLIENT
    assert frame(10, 1, b"body") == struct.pack(">i", len(head) + 4) + head + b"body"
    assert pack_string("ü") == b"\0\x02\xc3\xbc"


def test_answers_come_in_the_order_asked() -> None:
    with Broker(b"one", b"two") as broker, Connection(broker.address, 10) as connection:
        assert connection.ask([frame(1, 0, b"a"), frame(2, 0, b"b")]) == [b"one", b"two"]
    assert [asked[:2] for asked in broker.asked] == [b"\0\x01", b"\0\x02"]


def test_a_quota_is_set_or_refused() -> None:
    good, bad = (struct.pack(">iih", 0, 1, error) for error in (0, REFUSED))
    with Broker(good) as broker:
        alter_quotas(broker.address, "client-id", "shop", {"rate": 5.0})
    quota = pack_string("rate") + struct.pack(">d?", 5.0, False)
    entity = struct.pack(">i", 1) + pack_string("client-id") + pack_string("shop")
    body = struct.pack(">i", 1) + entity + struct.pack(">i", 1) + quota + b"\0"
    assert broker.asked == [struct.pack(">hhi", 49, 0, 0) + CLIENT + body]
    with Broker(bad) as broker, pytest.raises(LabError, match="refused to set"):
        alter_quotas(broker.address, "client-id", "shop", {"rate": None})


def test_a_move_is_asked_for_with_tags_or_refused() -> None:
    # Tags, throttle time, no error and no text; one topic with one partition and its error.
    good, bad = (
        b"\0" + struct.pack(">ih", 0, 0) + b"\0\2\7orders\2" + struct.pack(">ih", 3, error)
        for error in (0, REFUSED)
    )
    with Broker(good) as broker:
        alter_reassignment(broker.address, "orders", 3, [1, 2])
    partition = struct.pack(">i", 3) + b"\3" + struct.pack(">ii", 1, 2) + b"\0"
    body = b"\0" + struct.pack(">i", 30_000) + b"\2\7orders\2" + partition + b"\0\0"
    assert broker.asked == [struct.pack(">hhi", 45, 0, 0) + CLIENT + body]
    with Broker(bad) as broker, pytest.raises(LabError, match="refused to move orders-3"):
        alter_reassignment(broker.address, "orders", 3, None)
