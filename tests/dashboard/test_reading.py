"""Pages while the process that reads the lake is stopped, killed, or busy: nothing else waits."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from dashboard.app import App, build_app
from dashboard.options import Options
from dashboard.pages import quality
from dashboard.server import Server, listen
from delta_tables.asking.question import Limits
from tests.dashboard.story_lake import CLUSTER
from tests.dashboard.test_turns import asking, wait_for
from tests.delta_tables.live.test_reader import count_cpu, is_running

# Much work, little memory: one that runs out of memory dies by itself.
ENDLESS = (
    "SELECT count(*) AS n FROM range(0, 10000000) AS a, range(0, 10000000) AS b "
    "WHERE (SELECT count(*) FROM quarantine) >= 0"
)
PATIENT = Limits(timeout_s=300, memory_bytes=1 << 30)


@contextmanager
def serve_app(options: Options) -> Iterator[tuple[App, str]]:
    app, taken = build_app(options), listen("127.0.0.1:0")
    server = Server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        yield app, f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        taken.close()
    assert not thread.is_alive()


@pytest.fixture
def served(lake: str) -> Iterator[tuple[App, str]]:
    with serve_app(Options(lake, CLUSTER, limits=PATIENT)) as (app, address):
        assert get(f"{address}/api/overview")["pulse"]
        yield app, address


def get(address: str) -> dict[str, object]:
    with urlopen(address, timeout=300) as answer:
        said: dict[str, object] = json.load(answer)
        return said


def find_pid(app: App) -> int:
    assert app.reader.pid is not None
    return app.reader.pid


def test_health_is_told_while_the_reader_stands_still_on_a_page(served: tuple[App, str]) -> None:
    app, address = served
    os.kill(find_pid(app), signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        page = pool.submit(get, f"{address}/api/quality")
        try:
            for _ in range(20):
                with urlopen(f"{address}/healthz", timeout=60) as answer:
                    assert answer.read() == b"alive\n"
            assert not page.done()
        finally:
            os.kill(find_pid(app), signal.SIGCONT)
        assert page.result(300)["tables"]


def test_a_page_whose_reader_is_killed_is_503_and_the_next_one_is_there(
    served: tuple[App, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, address = served
    pid = find_pid(app)
    with monkeypatch.context() as slow, ThreadPoolExecutor(1) as pool:
        slow.setattr(quality, "_QUARANTINED", ENDLESS)
        before = count_cpu(pid)
        page = pool.submit(get, f"{address}/api/quality")
        wait_for(lambda: count_cpu(pid) - before > 1)
        with urlopen(f"{address}/healthz", timeout=60) as answer:
            assert answer.read() == b"alive\n"
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(HTTPError) as refused:
            page.result(300)
        with refused.value as answer:
            assert answer.status == 503
            assert answer.headers["retry-after"] == "5"
            assert "was ended by SIGKILL" in json.load(answer)["error"]
    assert get(f"{address}/api/quality")["tables"]
    assert find_pid(app) != pid


def test_the_work_for_a_page_ends_when_its_client_leaves(
    served: tuple[App, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, address = served
    pid = find_pid(app)
    with monkeypatch.context() as slow:
        slow.setattr(quality, "_QUARANTINED", ENDLESS)
        before = count_cpu(pid)
        with asking(address, "", "/api/quality"):
            wait_for(lambda: count_cpu(pid) - before > 1)
        wait_for(lambda: not is_running(pid))
    assert get(f"{address}/api/quality")["tables"]


def test_the_reader_ends_with_the_server(lake: str) -> None:
    with serve_app(Options(lake, CLUSTER)) as (app, address):
        get(f"{address}/api/overview")
        pid = find_pid(app)
    wait_for(lambda: not is_running(pid))
