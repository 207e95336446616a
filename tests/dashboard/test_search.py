"""The search over everything, names that were never seen, and names that are too long to show."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient

from dashboard.options import Options
from tests.dashboard.addresses import ADDRESSES, write_address
from tests.dashboard.browser import open_page
from tests.dashboard.conftest import open_client
from tests.dashboard.serving import serve
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC
from tests.dashboard.story_lake import CLUSTER
from tests.delta_tables.small_lake import write_lake

LONG = "a-very-long-name." * 600


@pytest.mark.parametrize(
    ("text", "leads_to"),
    [
        ("orders-3", "/at?q=orders-3&last=1h"),
        ("broker 2", "/broker?broker_id=2&last=1h"),
        ("2", "/broker?broker_id=2&last=1h"),
        ("billing", "/group?group_id=billing&last=1h"),
        ("BILLING", "/group?group_id=billing&last=1h"),
        ("payments", "/topic?topic=payments&last=1h"),
        ("billing_web-a", "/group?group_id=billing&coordinator=zookeeper&last=1h"),
        ("retention", None),
        ("team-0", None),
        ("", None),
    ],
)
def test_a_name_leads_to_its_page(client: TestClient, text: str, leads_to: str | None) -> None:
    answer = client.get(write_address("/search", q=text), follow_redirects=False)
    assert answer.headers.get("location") == leads_to
    assert answer.status_code == (200 if leads_to is None else 303)
    if leads_to is not None:
        assert client.get(leads_to).status_code == 200
    assert client.get(write_address("/api/search", q=text)).json()["target"] == leads_to


def test_several_matches_are_listed_the_closest_first(client: TestClient) -> None:
    found = client.get(write_address("/api/search", q="team-00")).json()["matches"]
    assert [one["name"] for one in found] == [f"team-00{number}" for number in range(10)]
    assert {one["kind"] for one in found} == {"group"}
    hostile = client.get(write_address("/api/search", q="script")).json()["matches"]
    assert {(one["kind"], one["name"]) for one in hostile} == {
        ("topic", HOSTILE_TOPIC),
        ("member", HOSTILE_TOPIC),
    }


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        (write_address("/group", group_id="biling"), "/group?group_id=billing"),
        (write_address("/topic", topic="oders"), "/topic?topic=orders"),
        (write_address("/group", group_id="orders"), "/topic?topic=orders"),
        (write_address("/broker", broker_id="22"), "/broker?broker_id=2"),
    ],
)
def test_what_was_never_seen_is_not_found_and_others_are_suggested(
    client: TestClient, address: str, meant: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert "was ever seen" in answer.text
    assert f'href="{meant}"' in answer.text
    told = client.get(f"/api{address}")
    assert told.status_code == 404
    assert "was ever seen" in told.json()["error"]


@pytest.mark.browser
def test_the_key_leads_to_the_search_and_the_search_to_the_page(
    browser: Browser, lake: str
) -> None:
    options = Options(lake, CLUSTER, stale_after_s=100_000)
    with serve(options) as address, open_page(browser, address) as page:
        for text, heading in (("billing", "billing"), ("orders-3", "Time machine")):
            page.goto("/brokers")
            page.keyboard.press("/")
            box = page.get_by_label("Search groups, topics, members, partitions and brokers")
            expect(box).to_be_focused()
            page.keyboard.type(text)
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_contain_text(heading)
        expect(page.locator(".answer")).to_contain_text("orders-3 was led by broker 1")


@pytest.mark.browser
def test_a_name_that_is_too_long_is_cut_and_told_in_full(browser: Browser, tmp_path: Path) -> None:
    names = {"coordinator": "zookeeper", "group_id": LONG, "topic": LONG, "partition": 0}
    since = {"valid_from_at": "2026-11-16T03:00:00Z", "is_known": True}
    rows = {
        "consumer_membership": [
            {**since, "member_id": LONG, "coordinator": "zookeeper", "group_id": LONG}
        ],
        "ownership_history": [{**since, **names, "owner": LONG, "owner_member_id": LONG}],
        "topics": [{**since, "topic": LONG, "partition_count": 1}],
        "partition_state": [{**since, "topic": LONG, "partition": 0, "leader": 1, "isr": [1]}],
    }
    write_lake(str(tmp_path), CLUSTER, rows)
    addresses = ["/", "/groups", "/topics", "/at", "/at?raw=1", "/search?q=long"]
    with serve(Options(str(tmp_path), CLUSTER)) as address, open_page(browser, address) as page:
        for path in addresses:
            page.goto(path)
            expect(page.locator("h1")).to_be_visible()
            size = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
            assert size[0] <= 1280, path
            assert size[1] < 4000, path
        page.goto("/groups")
        cell = page.locator("td.name").first
        cell.hover()
        assert cell.get_attribute("title") == LONG


def test_a_hostile_name_is_found_like_any_other(client: TestClient) -> None:
    answer = client.get(write_address("/search", q=HOSTILE_GROUP), follow_redirects=False)
    assert answer.headers["location"].startswith("/group?group_id=%22%3E%3Cimg")
    nobody = client.get(write_address("/group", group_id=f"{HOSTILE_GROUP}'"))
    assert nobody.status_code == 404
    assert "<img src=x" not in nobody.text


def test_an_empty_lake_knows_no_names(empty_client: TestClient) -> None:
    assert "Nothing in the history is named like this" in empty_client.get("/search?q=a").text
    assert empty_client.get("/group?group_id=a").status_code == 200


def test_every_time_names_its_zone(client: TestClient) -> None:
    for address in ADDRESSES:
        for part in client.get(address).text.split("<time ")[1:]:
            form, text = part.partition(">")[0], part.partition(">")[2].partition("<")[0]
            assert 'data-form="' in form
            if any(f'data-form="{one}"' in form for one in ("full", "clock", "zoned")):
                assert text.endswith(("Z", "UTC")), (address, text)


def test_a_lake_of_another_cluster_is_not_searched(lake: str) -> None:
    other = open_client(Options(lake, "other"))
    assert other.get("/api/search?q=billing").json()["matches"] == []
