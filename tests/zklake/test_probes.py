"""Hostile sockets at a health address: no thread, no memory, and nobody is kept out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prometheus_client import CollectorRegistry, Gauge

from tests.dashboard.sockets import count_files, get, is_closed, open_many, open_socket, wait_for
from zklake.health import serve_health
from zklake.probes import ProbeTimeouts

ALIVE = (200, "alive\n")
ASKED = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def serve(patience: ProbeTimeouts = ProbeTimeouts(), **answers: object) -> Iterator[str]:
    registry = CollectorRegistry()
    Gauge("up", "that it is", registry=registry).set(1)
    with serve_health(
        "127.0.0.1:0",
        registry,
        lambda: None,
        patience=patience,
        **answers,  # type: ignore[arg-type]
    ) as address:
        yield f"http://{address}"


def test_silent_sockets_take_no_thread_and_keep_nobody_out() -> None:
    with serve(ProbeTimeouts(head_s=1000)) as address:
        before = threading.active_count()
        with open_many(address, 600) as opened:
            for path in ("/healthz", "/readyz", "/metrics"):
                assert get(address, path)[0] == 200
            assert threading.active_count() <= before
            # All but some tens have to make room, as others come.
            assert wait_for(
                lambda: get(address, "/healthz") == ALIVE and sum(map(is_closed, opened)) >= 500
            )
            assert get(address, "/healthz") == ALIVE


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nX: ", b"G"])
def test_who_does_not_ask_in_time_is_cut_off(sent: bytes) -> None:
    with (
        serve(ProbeTimeouts(head_s=0.5)) as address,
        open_many(address, 20, sent) as opened,
    ):
        assert wait_for(lambda: all(map(is_closed, opened)))
        assert get(address, "/healthz") == ALIVE


def test_a_connection_gets_one_answer() -> None:
    with serve() as address, open_socket(address, ASKED * 3) as one:
        told = b"".join(iter(lambda: one.recv(65536), b""))
    assert told.count(b"HTTP/1.1 200 OK") == 1
    assert b"Connection: close" in told


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /nothing HTTP/1.1\r\n\r\n", b" 404 "),
        (b"POST /healthz HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b" 405 "),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b" 400 "),
        (b"GET /\xff\xfe HTTP/1.0\r\n\r\n", b" 404 "),
    ],
)
def test_other_requests_are_refused(sent: bytes, status: bytes) -> None:
    with serve() as address, open_socket(address, sent) as one:
        assert status in one.recv(100)


def test_a_head_that_does_not_end_is_cut_off() -> None:
    with serve(ProbeTimeouts(head_s=1000)) as address, open_socket(address) as one:
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            one.sendall(b"GET /" + b"x" * (100 << 20))
        assert get(address, "/healthz") == ALIVE


def test_who_does_not_read_is_cut_off() -> None:
    large = "x" * (32 << 20)
    with (
        serve(ProbeTimeouts(answer_s=0.5), find_illness=lambda: large) as address,
        open_socket(address, ASKED) as deaf,
    ):
        assert deaf.recv(20).startswith(b"HTTP/1.1 503")
        opened = count_files()
        assert wait_for(lambda: count_files() < opened)
        assert get(address, "/readyz") == (200, "ready\n")


def test_what_fails_is_said() -> None:
    with serve(find_illness=lambda: str(1 // 0)) as address:
        assert get(address, "/healthz") == (500, "the state cannot be read: ZeroDivisionError\n")


def test_a_crowd_that_asks_is_answered_by_few_threads() -> None:
    go_on = threading.Event()
    with serve(find_illness=lambda: go_on.wait(100) and None) as address:
        before = threading.active_count()
        with open_many(address, 300, ASKED) as opened:
            # More wait than may: these are refused at once.
            assert wait_for(lambda: get(address, "/healthz")[0] == 503)
            assert threading.active_count() <= before
            go_on.set()
            assert all(one.recv(20).startswith(b"HTTP/1.1 ") for one in opened)
        assert get(address, "/healthz") == ALIVE
