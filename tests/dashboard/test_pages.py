from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from dashboard.options import Options
from dashboard.pages import PAGES
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from tests.dashboard.addresses import ADDRESSES, name_api, write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP
from tests.dashboard.story_groups import find_lag
from tests.dashboard.story_lake import CLUSTER, write_story
from tests.delta_tables.small_lake import write_lake
from zklake.cli.main import app as zklake


def fetch(client: TestClient, address: str) -> dict[str, Any]:
    answer = client.get(name_api(address))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_every_page_is_among_those_tested() -> None:
    told = {address.partition("?")[0] for address in ADDRESSES}
    assert told == {"/" if page.name == "overview" else f"/{page.name}" for page in PAGES}


@pytest.mark.parametrize(("address", "shown"), ADDRESSES.items())
def test_a_page_shows_the_story(client: TestClient, address: str, shown: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    assert shown in answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("address", ADDRESSES)
def test_names_from_the_cluster_are_text_and_nothing_else(client: TestClient, address: str) -> None:
    text = client.get(address).text
    assert HOSTILE_TOPIC not in text
    assert "<img src=x" not in text
    assert "<b>host" not in text
    tags = _read_tags(text)
    assert {"html", "main", "a"} <= {tag for tag, _ in tags}
    for tag, attributes in tags:
        assert tag not in ("b", "img") or attributes.get("src") == "/static/icon.svg"
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        # The only scripts are files, and data that no browser runs.
        if tag == "script" and attributes != {"type": "application/json"}:
            assert (attributes["src"] or "").startswith("/static/")


def _read_tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(text)
    return tags


def test_the_json_of_a_page_is_what_it_shows(client: TestClient) -> None:
    listed = fetch(client, "/groups")
    text = client.get("/groups").text
    assert next(row["group_id"] for row in listed["rows"]) == HOSTILE_GROUP
    assert listed["total"] == 64
    for row in listed["rows"]:
        assert escape(row["group_id"]).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in text


def test_groups_are_sorted_searched_and_paged_by_the_server(client: TestClient) -> None:
    first = fetch(client, write_address("/groups", sort="-lag"))
    assert [row["lag"] for row in first["rows"][:2]] == [44_000, 826]
    names = [row["group_id"] for row in fetch(client, "/groups?sort=group_id&q=team")["rows"]]
    assert names == [f"team-{number:03}" for number in range(50)]
    assert len(fetch(client, "/groups?sort=group_id&q=team&page=2")["rows"]) == 10
    assert (
        fetch(client, write_address("/groups", q="ГРУППА"))["rows"][0]["group_id"] == UNICODE_GROUP
    )
    # On a page for people, what makes no sense is as if nothing was said.
    assert client.get("/groups?sort=nothing&page=-3&q=").text.count("<tr") > 50


def test_the_story_of_a_group(client: TestClient) -> None:
    group = fetch(client, write_address("/group", group_id="billing"))
    assert [row["trigger"] for row in group["rebalances"]] == ["member_joined", "session_ended"]
    assert {row["member_id"] for row in group["members"]} == {"billing_web-a", "billing_web-b"}
    lines = {line["label"]: line["values"] for line in group["lag"]["lag"]}
    assert len(lines) == 6
    most = [value for value in lines["orders-2"] if value is not None]
    assert max(most) > 15_000
    assert most[0] < 100
    # A point shows the most of its minute: which of the last two that is, the clock decides.
    assert most[-1] in (find_lag(1, 2), find_lag(2, 2))
    assert len(group["lag"]["x"]) == len(lines["orders-2"])
    text = client.get(write_address("/group", group_id="billing")).text
    assert "orders-0 without an owner: 2 min 30 s" in text


def test_a_broker_that_was_away(client: TestClient) -> None:
    brokers = fetch(client, "/brokers")
    (away,) = brokers["absences"]
    assert (away["broker_id"], away["away_s"], away["ended_by"]) == (2, 90.0, "session_ended")
    assert (away["leaders_moved"], away["shortened"], away["short_s"]) == (3, 10, 240.0)
    assert [(one["group_id"], one["seconds"]) for one in away["paused"]] == [("search", 27.0)]
    assert fetch(client, "/broker?broker_id=2")["absences"] == [away]
    assert fetch(client, "/broker?broker_id=1")["absences"] == []
    assert [row["flaps"] for row in brokers["brokers"]] == [0, 1, 0]
    assert [row["is_controller"] for row in brokers["brokers"]] == [False, False, True]


def test_changes_with_what_was_before_and_no_secrets(client: TestClient) -> None:
    changes = fetch(client, "/changes")["changes"]
    assert ("604800000", "86400000") in [(row["before"], row["after"]) for row in changes]
    assert [row["after"] for row in changes if row["is_redacted"]] == [None]
    (only,) = {row["kind"] for row in fetch(client, "/changes?kind=operation")["changes"]}
    assert only == "operation"


@pytest.mark.parametrize(
    ("table", "time"),
    [
        ("broker_membership", "-30m"),
        ("controller", "-2d"),
        ("partition_state", "-29m"),
        ("ownership_history", "-10m"),
    ],
)
def test_the_time_machine_says_what_zklake_at_says(
    client: TestClient, lake: str, table: str, time: str
) -> None:
    page = fetch(client, write_address("/at", time=time, table=table))
    asked = ["at", page["time"], table, "--json", "--lake", lake, "--cluster", CLUSTER]
    told = CliRunner().invoke(zklake, asked)
    assert told.exit_code == 0, told.output
    (section,) = page["sections"]
    assert section["rows"] == json.loads(told.stdout)
    assert section["total"] == len(section["rows"]) > 0


def test_the_time_machine_says_what_it_cannot_know(client: TestClient) -> None:
    assert fetch(client, "/at")["doubts"] == []
    (doubt,) = fetch(client, "/at?time=now")["doubts"]
    assert "past the watermark" in doubt


def test_why_a_group_fell_behind(client: TestClient) -> None:
    (answer,) = fetch(client, write_address("/why", group_id="billing"))["answers"]
    rise = answer["rises"][answer["rise"] - 1]
    first, second, *_ = rise["causes"]
    # One of two readers left: nobody owned its partitions for a while, and the other is slower.
    assert (first["cause"], first["entity"]) == ("readers_slower", "member billing_web-b")
    assert (second["cause"], second["rows"][0]["owner_member_id"]) == ("unowned", "billing_web-a")
    assert rise["lag_before"] < 500 < 20_000 < rise["lag_after"]
    assert sum(cause["records"] for cause in rise["causes"]) == rise["added"]
    # The address that other pages link to is one of the API, too.
    named = write_address("/why", group_id="billing", coordinator="zookeeper")
    assert fetch(client, named)["answers"] == [answer]
    # Names that mean something to SQL are names.
    assert "no group" in fetch(client, write_address("/why", group_id="x' OR '1'='1"))["error"]


@pytest.mark.parametrize(("range_", "doubts"), [({"last": "1h"}, 0), ({"to": "now"}, 1)])
def test_why_doubts_a_time_that_nobody_knows_only_where_it_was_named(
    lake: str, range_: dict[str, str], doubts: int
) -> None:
    client = open_client(Options(lake, CLUSTER, stale_after_s=100_000))
    (answer,) = fetch(client, write_address("/why", group_id="billing", **range_))["answers"]
    assert len(answer["doubts"]) == doubts


def test_a_page_that_is_not_in_the_menu_belongs_to_one_that_is(client: TestClient) -> None:
    for page, menu in (("/group?group_id=billing", "groups"), ("/topic?topic=orders", "topics")):
        text = client.get(page).text
        assert f'<a href="/{menu}?last=1h" aria-current="true">' in text
        assert text.count('aria-current="page"') == 0


def test_sql_is_answered_by_the_sandbox(client: TestClient) -> None:
    answer = fetch(client, write_address("/sql", query="SELECT count(*) AS n FROM topics"))
    assert (answer["names"], answer["rows"]) == (["n"], [[3]])
    for query in ("DROP TABLE topics", "SELECT * FROM '/etc/passwd'", "SELECT 1; SELECT 2", "x"):
        refused = client.get(write_address("/api/sql", query=query))
        assert refused.status_code == 200
        assert refused.json()["error"]
    assert "Which brokers are registered now" in client.get("/sql").text


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_empty_lake_is_no_error(empty_client: TestClient, address: str) -> None:
    answer = empty_client.get(address)
    assert answer.status_code == 200
    assert "The lake has no data yet: start `zklake watch`" in answer.text


def test_it_is_ready_once_something_is_folded(tmp_path: Path) -> None:
    client = open_client(Options(str(tmp_path), CLUSTER))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (503, "no data yet\n")
    write_story(str(tmp_path))
    # It looks at the lake once in a while.
    deadline = time.monotonic() + 60
    while client.get("/readyz").text != "ready\n":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_lake_without_the_tables_of_lag(tmp_path: Path) -> None:
    member = {"coordinator": "zookeeper", "group_id": "old", "member_id": "m"}
    without = [
        table for table in TABLES if table.name not in ("offset_lag", "rebalances", "log_ends")
    ]
    write_lake(str(tmp_path), CLUSTER, {"consumer_membership": [member]}, without)
    client = open_client(Options(str(tmp_path), CLUSTER))
    (group,) = fetch(client, "/groups")["rows"]
    assert (group["group_id"], group["members"], group["lag"]) == ("old", 1, None)
    assert "No lag was measured" in client.get("/group?group_id=old").text
    assert client.get("/rebalances").status_code == 200


def test_a_table_of_another_release_hides_nothing_else(tmp_path: Path) -> None:
    controller = TABLE_BY_NAME["controller"]
    # A column that every row must have: what may be null is read as null.
    columns = tuple(one for one in controller.columns if one.name != "valid_from_seq")
    older = replace(controller, columns=columns)
    others = [table for table in TABLES if table is not controller]
    write_lake(str(tmp_path), CLUSTER, {}, [older, *others])
    client = open_client(Options(str(tmp_path), CLUSTER))
    sections = {
        one["table"]: one["error"] for one in fetch(client, "/at?time=now&raw=1")["sections"]
    }
    assert "valid_from_seq" in sections.pop("controller")
    assert set(sections.values()) == {None}
    refused = client.get("/brokers")
    assert refused.status_code == 503
    assert "the lake cannot answer" in refused.text
    told = client.get("/api/brokers")
    assert told.status_code == 503
    assert "the lake cannot answer" in told.json()["error"]


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/nothing", 404, "This page does not exist."),
        ("/?last=soon", 400, "15m, 1h, 7d"),
        ("/?from=yesterday", 400, "as a time. Use ISO 8601"),
        ("/?from=-1h&to=-2h", 400, "ends before it begins"),
        ("/at?time=then", 400, "as a time. Use ISO 8601"),
        ("/at?time=0001-01-01", 400, "Use a year from 1970"),
        ("/?from=9999-12-31&to=now", 400, "Use a year from 1970"),
        ("/at?table=znode_events", 400, "broker_membership"),
        ("/group", 400, "No group given"),
        ("/topic?topic=", 400, "No topic given"),
    ],
)
def test_what_cannot_be_shown_is_said(
    client: TestClient, address: str, status: int, says: str
) -> None:
    page, data = client.get(address), client.get(name_api(address.replace("/?", "/overview?")))
    assert (page.status_code, data.status_code) == (status, status)
    assert says in page.text
    assert says in data.json()["error"]


def test_a_range_is_kept_from_page_to_page(client: TestClient) -> None:
    story = fetch(client, "/at")
    end = story["time"]
    text = client.get(write_address("/brokers", **{"from": "-45m", "to": end})).text
    assert re.search(r'href="/groups\?from=[^"]+to=[^"]+"', text)
    assert 'href="/groups?last=6h"' in client.get("/?last=6h").text
