from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake
from starlette.testclient import TestClient

from dashboard.heat import choose_width, list_columns
from dashboard.options import Options
from dashboard.times import read_span
from delta_tables.reading import read_rows, table_path
from tests.dashboard.addresses import write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story import Story
from tests.dashboard.story_groups import tell_billing
from tests.dashboard.story_lake import CLUSTER
from tests.delta_tables.small_lake import write_lake

NOW = datetime.fromisoformat("2026-11-16T13:20:00Z")


def fetch(client: TestClient, page: str, /, **params: str) -> dict[str, Any]:
    answer = client.get(write_address(f"/api/{page}", **params))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def open_story(lake: Path, story: Story) -> TestClient:
    write_lake(str(lake), CLUSTER, story.rows)
    return open_client(Options(str(lake), CLUSTER))


def tell_rebalances(story: Story, group_id: str, *minutes: float, **columns: Any) -> None:
    for minute in minutes:
        given = {"coordinator": "zookeeper", "trigger": "member_joined", "outcome": "settled"}
        story.add(
            "rebalances",
            minute,
            minute - 0.05,
            group_id=group_id,
            ended_by="settled",
            **given | columns,
        )


def test_more_are_counted_than_any_list_shows(tmp_path: Path) -> None:
    story = Story()
    tell_rebalances(story, "storming", 9, unowned_ms=7, moved=2, outcome="failed")
    for number in range(120):
        tell_rebalances(story, f"calm-{number:03}", 30)
    client = open_story(tmp_path, story)
    path = table_path(str(tmp_path), CLUSTER, "rebalances")
    many = QueryBuilder().register("known", DeltaTable(path))
    sql = "SELECT known.* FROM known, generate_series(1, 20000) WHERE group_id = 'storming'"
    write_deltalake(path, many.execute(sql), mode="append")
    found = fetch(client, "rebalances", last="1h")
    assert (found["total"], found["failed"], found["unowned_ms"]) == (20_121, 20_001, 140_007)
    assert (found["all_groups"], found["storms"]) == (121, 1)
    assert sum(row["rebalances"] for row in found["by_time"]) == 20_121
    assert found["triggers"] == [{"trigger": "member_joined", "rebalances": 20_121}]
    worst, *others = found["groups"]
    assert (worst["group_id"], worst["rebalances"], worst["storm"]) == ("storming", 20_001, 20_001)
    assert (worst["failed"], worst["moved"], worst["unowned_ms"]) == (20_001, 40_002, 140_007)
    assert [row["group_id"] for row in others] == [f"calm-{number:03}" for number in range(99)]
    assert len({row["group_id"] for row in found["frequency"]}) == 20
    assert len(found["latest"]) == 100
    page = client.get("/rebalances?last=1h").text
    assert "The first 100 of 121." in page
    assert "101 more not shown" in page


@pytest.mark.parametrize(("seconds", "storm"), [(600, 5), (601, 0)])
def test_five_within_ten_minutes_are_a_storm(tmp_path: Path, seconds: int, storm: int) -> None:
    story = Story()
    tell_rebalances(story, "a", 40, 39, 38, 37, 40 - seconds / 60)
    tell_rebalances(story, "b", 40, 20, 10)
    found = fetch(open_story(tmp_path, story), "rebalances", last="1h")
    assert [(row["group_id"], row["storm"]) for row in found["groups"]] == [("a", storm), ("b", 0)]
    assert found["storms"] == (1 if storm else 0)


def test_the_trigger_of_a_group_is_its_most_frequent_one(tmp_path: Path) -> None:
    story = Story()
    tell_rebalances(story, "a", 40, 39, trigger="member_left")
    tell_rebalances(story, "a", 38, 37, 36, trigger="topic_changed")
    found = fetch(open_story(tmp_path, story), "rebalances", last="1h")
    assert found["groups"][0]["trigger"] == "topic_changed"
    assert [row["rebalances"] for row in found["triggers"]] == [3, 2]


def test_what_nobody_knows_of_a_group_is_no_nought(tmp_path: Path) -> None:
    story = Story()
    tell_rebalances(story, "a", 40, coordinator="kafka")
    tell_rebalances(story, "b", 40, moved=0, reacquired=0, unowned_ms=0, duration_ms=0)
    found = fetch(open_story(tmp_path, story), "rebalances", last="1h")
    names = ("moved", "reacquired", "unowned_ms", "longest_ms")
    assert [[row[name] for name in names] for row in found["groups"]] == [[None] * 4, [0] * 4]
    assert found["unowned_ms"] == 0


def test_the_frequency_is_what_the_view_says_hour_by_hour(tmp_path: Path) -> None:
    story = Story()
    tell_rebalances(story, "a", *range(5, 600, 25))
    tell_rebalances(story, "a", 130, coordinator="kafka", outcome="failed")
    tell_rebalances(story, "b", 300, 301, 302)
    client = open_story(tmp_path, story)
    found = fetch(client, "rebalances", last="24h")
    columns = ("group_id", "coordinator", "rebalances", "failed")
    sql = "SELECT * FROM rebalance_frequency ORDER BY hour_at, group_id, coordinator"
    view = read_rows(str(tmp_path), CLUSTER, sql)
    assert found["frequency_s"] == 3600
    assert [
        (datetime.fromisoformat(row["at"]), *(row[name] for name in columns))
        for row in found["frequency"]
    ] == [(row["hour_at"], *(row[name] for name in columns)) for row in view]


def test_a_cell_leads_to_the_group_in_that_hour(tmp_path: Path) -> None:
    story = Story()
    # In the middle of hours: one that goes over into the next is seen in both.
    middle = story.now.minute + 30
    tell_rebalances(story, "a&b", middle + 240, middle + 240.5)
    tell_rebalances(story, "a&b", middle + 60)
    client = open_story(tmp_path, story)
    page = client.get("/rebalances?last=24h").text
    cells = [
        (unescape(href), int(text))
        for href, text in re.findall(r'<td class="heat-\d"><a href="([^"]+)"[^>]*>(\d+)</a>', page)
    ]
    assert sum(count for _, count in cells) == 3
    for href, count in cells:
        found = client.get("/api" + href).json()
        assert (found["group"]["group_id"], len(found["rebalances"])) == ("a&b", count)
    assert (
        '<th scope="row"><a href="/group?group_id=a%26b&amp;coordinator=zookeeper&amp;last=24h"'
        in page
    )


@pytest.mark.parametrize(
    ("last", "width", "columns"),
    [
        ("15m", 3600, 1),
        ("1h", 3600, 2),
        ("24h", 3600, 25),
        ("7d", 21_600, 29),
        ("30d", 86_400, 31),
        ("9999d", 334 * 86_400, 31),
    ],
)
def test_the_hours_of_a_range_fit_on_a_screen(last: str, width: int, columns: int) -> None:
    span = read_span({"last": last}, NOW)
    assert choose_width(span) == width
    found = list_columns(span, width)
    assert len(found) == columns
    assert found[0] <= span.start < found[0] + timedelta(seconds=width)
    assert found[-1] < span.end <= found[-1] + timedelta(seconds=width)


@pytest.mark.parametrize("only_first", [False, True])
def test_a_rebalance_cost_what_the_view_says(
    client: TestClient, lake: str, only_first: bool
) -> None:
    sql = "SELECT * FROM rebalance_cost WHERE group_id = 'billing' ORDER BY began_at DESC"
    costs = read_rows(lake, CLUSTER, sql)
    range_ = {"last": "1h"}
    if only_first:
        costs = costs[-1:]
        began_at = costs[0]["began_at"]
        around = (began_at - timedelta(seconds=20), began_at + timedelta(seconds=20))
        range_ = {"from": around[0].isoformat(), "to": around[1].isoformat()}
    found = fetch(client, "group", group_id="billing", **range_)["rebalances"]
    assert costs
    names = ("paused_partitions", "least_ms", "max_least_ms", "max_most_ms", "records")
    assert [[row[n] for n in names] for row in found] == [[row[n] for n in names] for row in costs]
    lost = found[-1]
    assert [lost[name] for name in names] == [3, 3 * 174_000, 174_000, 192_000, 3 * 1740]
    page = client.get(write_address("/group", group_id="billing", **range_)).text
    assert "at least 2 min 54 s, at most 3 min 12 s" in page
    assert ">5,220<" in page


def test_a_group_tells_when_nobody_read(client: TestClient) -> None:
    found = fetch(client, "group", group_id="billing", last="1h")["pauses"]
    assert [(row["partition"], row["held"], row["least_ms"]) for row in found] == [
        (5, "owner_stuck", None),
        *((p, "unowned", 174_000) for p in range(3)),
    ]
    page = client.get(write_address("/group", group_id="billing", last="1h")).text
    assert "billing_web-b does not move on" in page
    assert "no owner after billing_web-a" in page


def test_what_nobody_measured_of_a_rebalance_is_not_said(tmp_path: Path) -> None:
    story = Story()
    tell_billing(story)
    del story.rows["consumption_pauses"]
    found = fetch(open_story(tmp_path, story), "group", group_id="billing")["rebalances"]
    assert [(row["least_ms"], row["records"]) for row in found] == [(None, None)] * 2
