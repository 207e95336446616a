"""Nobody takes the dashboard down by sockets: silent ones, slow ones, or followed pages."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from dashboard.connection import ConnectionLimits
from dashboard.options import Options
from delta_tables.asking.question import Limits
from tests.dashboard.serving import serve
from tests.dashboard.sockets import count_files, get, is_closed, open_many, open_socket, wait_for
from tests.dashboard.story_lake import CLUSTER

ALWAYS = ("/healthz", "/metrics", "/readyz", "/", "/api/groups")
LIVE = b"GET /live?page=groups HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# More rows than anyone can count in a second.
QUESTION = "SELECT sum(length(concat(a.topic, b.topic, c.topic, d.topic))) FROM " + ", ".join(
    f"offset_lag {name}" for name in "abcd"
)
SLOW = f"GET /api/sql?query={quote(QUESTION)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
# Nothing is closed for being late, only for being one too many.
CALM = ConnectionLimits(head_s=1000, stall_s=1000, grace_s=0)


def check_answers(address: str) -> None:
    for path in ALWAYS:
        assert get(address, path)[0] == 200, path


def test_silent_sockets_keep_nobody_out_and_do_not_pile_up(lake: str) -> None:
    with serve(Options(lake, CLUSTER), CALM) as address, open_many(address, 600) as opened:
        check_answers(address)
        # The oldest make room for the newest.
        wanted = 600 - CALM.most_silent
        assert wait_for(lambda: sum(map(is_closed, opened)) >= wanted)
        check_answers(address)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nG",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nx",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20,
    ],
    ids=["silent", "slow head", "kept alive", "slow second head", "no body", "pipelined"],
)
def test_who_does_not_ask_in_time_is_cut_off(lake: str, sent: bytes) -> None:
    with (
        serve(Options(lake, CLUSTER), ConnectionLimits(head_s=1)) as address,
        open_many(address, 20, sent) as opened,
    ):
        assert wait_for(lambda: all(map(is_closed, opened)))
        check_answers(address)


def test_a_head_that_comes_byte_by_byte_is_cut_off(lake: str) -> None:
    with (
        serve(Options(lake, CLUSTER), ConnectionLimits(head_s=1)) as address,
        open_socket(address, b"GET / HTTP/1.1\r\n") as slow,
    ):

        def drip() -> bool:
            try:
                slow.sendall(b"x")
            except ConnectionError:
                return True
            return is_closed(slow)

        assert wait_for(drip)


def test_who_does_not_read_is_cut_off(tmp_path: Path) -> None:
    name = "static/vendor/uPlot-1.6.32.iife.min.js"
    script = (Path(__file__).parents[2] / "dashboard" / name).stat().st_size
    sent = f"GET /{name} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    # More than the kernel takes in for a reader that does not read.
    count = 1 + (64 << 20) // script
    with (
        serve(Options(str(tmp_path), CLUSTER), ConnectionLimits(head_s=1000, stall_s=1)) as address,
        open_socket(address) as deaf,
    ):
        deaf.sendall(sent * count)
        assert deaf.recv(20).startswith(b"HTTP/1.1 200")
        opened = count_files()
        assert wait_for(lambda: count_files() < opened)
        assert get(address, "/healthz")[0] == 200


def test_a_page_that_is_followed_is_not_cut_off(lake: str) -> None:
    options = Options(lake, CLUSTER, refresh_s=0.1)
    with (
        serve(options, ConnectionLimits(head_s=0.5)) as address,
        open_socket(address, LIVE) as live,
        open_socket(address) as silent,
    ):
        assert wait_for(lambda: is_closed(silent))
        assert not is_closed(live)


def test_live_pages_have_a_budget_of_their_own(lake: str) -> None:
    options = Options(lake, CLUSTER, live_connections=3, refresh_s=0.1)
    with serve(options) as address, ExitStack() as stack:
        opened = [stack.enter_context(open_socket(address, LIVE)) for _ in range(3)]
        for one in opened:
            assert one.recv(100).startswith(b"HTTP/1.1 200")
        status, text = get(address, "/live?page=groups")
        assert status == 503
        assert "dashboard.live_connections" in text
        check_answers(address)
        opened[0].close()
        with ExitStack() as later:

            def is_let_in() -> bool:
                one = later.enter_context(open_socket(address, LIVE))
                return one.recv(100).startswith(b"HTTP/1.1 200")

            assert wait_for(is_let_in)


def test_pages_answer_beside_a_crowd_of_every_kind(lake: str) -> None:
    options = Options(lake, CLUSTER, limits=Limits(timeout_s=1, max_rows=10, memory_bytes=1 << 30))
    with (
        serve(options) as address,
        open_many(address, 500, LIVE) as live,
        open_many(address, 60, SLOW),
        open_many(address, 1000),
    ):
        check_answers(address)
        assert all(one.recv(100).startswith(b"HTTP/1.1 200") for one in live)
        check_answers(address)


def test_pages_that_take_long_do_not_keep_the_pulse_waiting(
    lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("dashboard.app.render", lambda *asked: str(go_on.wait(100)))
    monkeypatch.setattr("dashboard.app.MOST_REQUESTS", 50)
    asked = b"GET /groups HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    try:
        with serve(Options(lake, CLUSTER)) as address, open_many(address, 50, asked):
            assert wait_for(lambda: get(address, "/api/openapi.json")[0] == 503)
            assert "try again" in get(address, "/api/openapi.json")[1]
            for path in ("/healthz", "/readyz", "/metrics", "/metrics/zklake"):
                assert get(address, path)[0] == 200
            go_on.set()
            assert wait_for(lambda: get(address, "/api/groups")[0] == 200)
    finally:
        go_on.set()
