from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from dashboard.options import Options
from delta_tables.live.tables import Tables
from delta_tables.reading import table_path
from tests.dashboard.conftest import open_client
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER, tell_events, tell_news, write_story
from zklake.health import serve_health


@contextmanager
def listen(address: str, path: str, event: str = "changed") -> Iterator[Iterator[str]]:
    """What a page is told by events of that name, one by one."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.getheader("content-type") == "text/event-stream; charset=utf-8"
    lines = (line.decode().rstrip("\n") for line in iter(answer.readline, b""))
    try:
        yield _read_events(lines, event)
    finally:
        connection.close()


def _read_events(lines: Iterator[str], wanted: str) -> Iterator[str]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        if line.startswith("data: ") and name == wanted:
            yield line.removeprefix("data: ")


def test_a_page_hears_of_a_commit_to_a_table_it_shows(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    with serve(Options(str(tmp_path), CLUSTER, refresh_s=0.1)) as address:
        with listen(address, "/live?page=groups") as events:
            first = next(events)
        with listen(address, f"/live?page=groups&seen={first}") as events:
            tell_news(str(tmp_path), "billing")
            second = next(events)
            assert second != first
        # The table topics has no news.
        with listen(address, "/live?page=topics") as events:
            topics = next(events)
            tell_news(str(tmp_path), "billing")
            with listen(address, f"/live?page=groups&seen={second}") as others:
                assert next(others) not in (first, second)
        with listen(address, "/live?page=topics") as events:
            assert next(events) == topics


def test_new_rows_are_shown_by_the_next_look(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    client = open_client(Options(str(tmp_path), CLUSTER))

    def count() -> int:
        found = client.get("/api/groups?q=billing").json()["rows"]
        return int(found[0]["members"])

    before = count()
    tell_news(str(tmp_path), "billing")
    assert _wait_for(lambda: count() == before + 1)


def test_a_lake_that_was_made_anew_is_read_anew(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    write_story(str(lake), groups=30)
    client = open_client(Options(str(lake), CLUSTER))
    assert client.get("/api/groups").json()["total"] == 34
    lake.rename(tmp_path / "old")
    assert _wait_for(lambda: client.get("/api/groups").json()["total"] == 0)
    write_story(str(lake), groups=2)
    assert _wait_for(lambda: client.get("/api/groups").json()["total"] == 6)


def test_files_that_were_cleaned_away_are_not_missed(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    tables = Tables(str(tmp_path), CLUSTER, look_every_s=100_000)
    tables.look()
    table = DeltaTable(table_path(str(tmp_path), CLUSTER, "topics"))
    table.update({"partition_count": "99"})
    table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    found = tables.query("SELECT DISTINCT partition_count FROM topics", "topics")
    assert found == [{"partition_count": 99}]


def test_it_says_what_is_stale_and_since_when(lake: str) -> None:
    fresh = open_client(Options(lake, CLUSTER, stale_after_s=100_000))
    assert fresh.get("/api/overview").json()["pulse"]["complaints"] == []
    assert "Live: " in fresh.get("/").text
    stale = open_client(Options(lake, CLUSTER, stale_after_s=1))
    (complaint,) = stale.get("/api/overview").json()["pulse"]["complaints"]
    assert complaint.startswith("The lake is stale: its last event was at 2")
    assert complaint in stale.get("/").text


def test_it_says_which_maker_is_down_and_that_it_is_back(lake: str) -> None:
    obstacle: list[str] = []
    with serve_health(
        "127.0.0.1:0", CollectorRegistry(), lambda: obstacle[0] if obstacle else None
    ) as at:
        options = Options(lake, CLUSTER, stale_after_s=100_000, watcher_http=at, refresh_s=0.1)
        client = open_client(options)
        assert _find_state(client) == ("up", [])
        obstacle.append("ZooKeeper <b>away</b>")
        assert _wait_for(lambda: _find_state(client)[0] == "not ready")
        (complaint,) = _find_state(client)[1]
        assert complaint.endswith(": ZooKeeper <b>away</b>.")
        assert "<b>away" not in client.get("/").text
        obstacle.clear()
        assert _wait_for(lambda: _find_state(client) == ("up", []))
    assert _wait_for(lambda: _find_state(client)[0] == "down")
    assert "The watcher has been down since 2" in client.get("/quality").text


def test_the_health_of_a_maker_is_news_to_an_open_page(lake: str) -> None:
    with serve_health("127.0.0.1:0", CollectorRegistry(), lambda: None) as at:
        options = Options(lake, CLUSTER, stale_after_s=100_000, stream_http=at, refresh_s=0.1)
        with serve(options) as address, listen(address, "/live?page=sql") as events:
            assert next(events) == "fresh-up"
    with serve(options) as address, listen(address, "/live?page=sql&seen=fresh-up") as events:
        assert next(events) == "fresh-down"


def test_a_page_whose_tables_are_quiet_hears_how_old_the_lake_is(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    options = Options(str(tmp_path), CLUSTER, stale_after_s=100_000, refresh_s=0.1)
    with serve(options) as address, listen(address, "/live?page=sql", "pulse") as pulses:
        before = json.loads(next(pulses))
        assert before.keys() == {"watermark_at", "sampled_at"}
        tell_events(str(tmp_path))
        after = json.loads(next(pulses))
        assert after["watermark_at"] > before["watermark_at"]
        # The page itself is as it was.
        with listen(address, "/live?page=sql") as changes:
            assert next(changes) == "fresh"


def test_the_first_events_are_news_to_every_page(tmp_path: Path) -> None:
    options = Options(str(tmp_path), CLUSTER, stale_after_s=100_000, refresh_s=0.1)
    with serve(options) as address, listen(address, "/live?page=sql") as changes:
        assert next(changes) == "empty"
        write_story(str(tmp_path), groups=1)
        assert next(changes) == "fresh"


def _find_state(client: TestClient) -> tuple[str, list[str]]:
    pulse = client.get("/api/overview").json()["pulse"]
    return pulse["parts"][0]["state"], pulse["complaints"]


def _wait_for(condition: object) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False
