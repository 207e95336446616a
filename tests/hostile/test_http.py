"""Hostile requests, byte by byte, to the real server: none gets in, none takes it down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from dashboard.connection import ConnectionLimits
from dashboard.options import Options
from delta_tables.asking.question import Limits
from tests.dashboard.serving import serve
from tests.dashboard.sockets import get, open_socket
from tests.dashboard.story_lake import CLUSTER, write_story
from tests.hostile.attempts import Attempt, list_params
from tests.hostile.http_attempts import ATTEMPTS, HOSTS, METHODS, ORIGINS

TELLTALES = (
    "Traceback",
    "root:x:0",
    "[project]",
    "from __future__",
    "{% block",
    "<script>alert",
    "/site-packages/",
    "PATH=",
)
# 503: too many at once. 431 and 400 are uvicorn's own, without our headers.
REFUSALS = (400, 401, 403, 404, 405, 411, 413, 414, 416, 421, 422, 431, 501, 505)


class Place(NamedTuple):
    """The server, and the lake that it must not name."""

    address: str
    lake: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    lake = str(tmp_path_factory.mktemp("story"))
    write_story(lake, groups=3)
    options = Options(lake, CLUSTER, limits=Limits(timeout_s=5, memory_bytes=256 << 20))
    with serve(options, ConnectionLimits(head_s=5)) as address:
        yield Place(address, lake)
        status, text = get(address, "/api/groups")
        assert (status, "billing" in text) == (200, True)


def send(address: str, text: str) -> bytes:
    """All that comes back until the server closes: behind an answer, or when it waited enough.

    Never half closed: to the server that is a client that left, who gets no answer.
    """
    with open_socket(address) as connection:
        received = b""
        try:
            connection.sendall(text.encode("latin-1", "replace"))
            while part := connection.recv(65536):
                received += part
        except ConnectionError:
            pass  # it was cut off in the middle of what it said
        return received


def find_statuses(received: bytes) -> list[int]:
    found = re.findall(rb"(?:^|[^\w])HTTP/1\.1 (\d{3}) ", received)
    return [int(status) for status in found if status != b"100"]


@pytest.mark.parametrize("attempt", list_params(ATTEMPTS))
def test_it_is_answered_or_cut_off_and_tells_nothing(place: Place, attempt: Attempt) -> None:
    received = send(place.address, attempt.text)
    text = received.decode(errors="replace")
    statuses = find_statuses(received)
    assert set(statuses) <= {200, 206, 304, 307, *REFUSALS}, text[:300]
    assert statuses
    assert not [told for told in (*TELLTALES, place.lake) if told in text]
    heads = [head.partition("\r\n\r\n")[0].lower() for head in re.split(r"(?=HTTP/1\.1 \d)", text)]
    for head in heads:
        assert "set-cookie" not in head
        assert "location:" not in head or "location: http://127.0.0.1/" in head
        assert "x-injected" not in head
        assert "access-control-allow" not in head
        assert "\nserver:" not in head
        if head and "invalid http request" not in text.lower() and " 100 " not in head:
            assert "content-security-policy: default-src 'none'" in head
    assert get(place.address, "/healthz") == (200, "alive\n")


@pytest.mark.parametrize("attempt", list_params((*METHODS, *HOSTS, *ORIGINS)))
def test_none_of_these_gets_data(place: Place, attempt: Attempt) -> None:
    """Whatever method, host or origin is not ours: no rows, no groups."""
    text = send(place.address, attempt.text).decode(errors="replace")
    assert "billing" not in text
    assert '"rows"' not in text
