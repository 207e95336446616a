"""Queries of those who left are stopped; too many at once are refused at once."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest

from dashboard.options import Options
from dashboard.turns import Turns
from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.live.tables import Tables
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER, write_story
from zklake.errors import BusyError, QueryCancelled

ENDLESS = "SELECT count(*) FROM range(0, 100000000) AS a, range(0, 100000000) AS b"
LIMITS = Limits(timeout_s=120, memory_bytes=256 << 20)


def test_a_turn_is_taken_waited_for_and_given_back() -> None:
    turns = Turns(running=1, waiting=1, patience_s=120)
    got = threading.Event()

    def wait() -> None:
        with turns.take(Cancellation()):
            got.set()

    with turns.take(Cancellation()):
        waiting = threading.Thread(target=wait)
        waiting.start()
        wait_for(lambda: turns._places == 0)
        started = time.monotonic()
        with pytest.raises(BusyError, match="too many queries are waiting"):
            turns.take(Cancellation()).__enter__()
        assert time.monotonic() - started < 60
        assert not got.is_set()
    assert got.wait(60)
    waiting.join()
    assert (turns._free, turns._places) == (1, 1)


def test_patience_ends() -> None:
    turns = Turns(running=1, waiting=1, patience_s=0.1)
    with turns.take(Cancellation()), pytest.raises(BusyError, match=r"took all of 0\.1 s"):
        turns.take(Cancellation()).__enter__()
    assert (turns._free, turns._places) == (1, 1)


def test_who_leaves_while_waiting_frees_the_place() -> None:
    turns, left = Turns(running=1, waiting=1, patience_s=60), Cancellation()
    with turns.take(Cancellation()):
        threading.Timer(0.2, left.cancel).start()
        with pytest.raises(QueryCancelled):
            turns.take(left).__enter__()
    assert (turns._free, turns._places) == (1, 1)


def test_a_query_is_stopped_from_another_thread() -> None:
    left = Cancellation()
    threading.Timer(1, left.cancel).start()
    started = time.monotonic()
    for _ in ("it ends", "the next one does not begin"):
        with (
            pytest.raises(QueryCancelled),
            run_query([], ENDLESS, LIMITS, cancellation=left) as answer,
        ):
            list(answer)
    assert time.monotonic() - started < 90


@contextmanager
def asking(address: str, query: str, page: str = "/api/sql") -> Iterator[None]:
    """A client that asks, does not read, and leaves."""
    place = urlsplit(address)
    assert place.port is not None
    with socket.create_connection((place.hostname or "", place.port), timeout=10) as client:
        path = f"{page}?{urlencode({'query': query})}" if query else page
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        yield


def test_queries_of_clients_that_left_end_and_others_get_their_turn(tmp_path: Path) -> None:
    with serve(Options(str(tmp_path), "kafka", limits=LIMITS)) as address:
        with asking(address, ENDLESS), asking(address, ENDLESS):
            wait_for(lambda: len(list_cells()) == 2)
            with ExitStack() as waiting:
                for _ in range(4):
                    waiting.enter_context(asking(address, ENDLESS))
                time.sleep(1)  # until all of them wait
                check_refusal(address)
                started = time.monotonic()
                with urlopen(f"{address}/healthz", timeout=10) as answer:
                    assert answer.read() == b"alive\n"
                assert time.monotonic() - started < 60
            assert len(list_cells()) == 2
        wait_for(lambda: not list_cells())
        with urlopen(f"{address}/api/sql?query=SELECT+1", timeout=30) as answer:
            assert json.load(answer)["rows"] == [[1]]


def test_a_page_whose_client_left_asks_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first query takes until the client is gone; the page would ask more than one."""
    write_story(str(tmp_path), groups=3)
    asked: list[str] = []
    is_asked, may_end = threading.Event(), threading.Event()
    run, bind = Tables._run, Tables.bind
    followed: list[Cancellation] = []

    def run_slowly(tables: Tables, *sql: Any) -> list[dict[str, Any]]:
        if followed:
            asked.append(sql[0])
            is_asked.set()
            may_end.wait(60)
        return run(tables, *sql)

    def follow(tables: Tables, cancellation: Cancellation) -> Tables:
        followed.append(cancellation)
        return bind(tables, cancellation)

    with serve(Options(str(tmp_path), CLUSTER)) as address:
        monkeypatch.setattr(Tables, "_run", run_slowly)
        monkeypatch.setattr(Tables, "bind", follow)
        with asking(address, "", "/api/overview"):
            assert is_asked.wait(60)
        wait_for(lambda: followed[0].is_cancelled)
        may_end.set()
        time.sleep(1)  # time in which it would ask the next one
        assert len(asked) == 1
        with urlopen(f"{address}/api/overview", timeout=60) as answer:
            assert answer.status == 200
        assert len(asked) > 2


def check_refusal(address: str) -> None:
    started = time.monotonic()
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{address}/api/sql?query=SELECT+1", timeout=30)
    with refused.value as answer:
        assert answer.status == 503
        assert answer.headers["retry-after"] == "5"
        assert "too many queries are waiting" in json.load(answer)["error"]
    assert time.monotonic() - started < 60


def list_cells() -> list[int]:
    """The sandbox's processes below this one."""
    found = []
    for children in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for pid in children.read_text().split():
            command = Path(f"/proc/{pid}/cmdline")
            try:
                if b".cell" in command.read_bytes():
                    found.append(int(pid))
            except OSError:
                continue
    return found


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
