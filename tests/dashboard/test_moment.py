"""The time machine: the snapshot of a moment, what differs from now, and the way back in time."""

from __future__ import annotations

import json
import shlex
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient
from typer.testing import CliRunner

from dashboard.colours import colour_broker
from dashboard.options import Options
from tests.dashboard.addresses import write_address
from tests.dashboard.browser import open_page
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER
from zklake.cli.main import app as zklake
from zklake.times import write_time


def find_moment(client: TestClient, minutes: float) -> str:
    """So many minutes before the story's end, whenever it was told."""
    end = datetime.fromisoformat(client.get("/api/at").json()["time"]) + timedelta(minutes=0.2)
    return write_time(end - timedelta(minutes=minutes))


def look(client: TestClient, minutes: float, **params: str) -> dict[str, Any]:
    address = write_address("/api/at", time=find_moment(client, minutes), **params)
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_moment_shows_the_whole_cluster(client: TestClient) -> None:
    then = look(client, 30.25)["snapshot"]
    assert [(row["broker_id"], row["is_up"]) for row in then["brokers"]] == [
        (1, True),
        (2, False),
        (3, True),
    ]
    assert then["controller"]["controller_id"] == 3
    assert (then["partitions_total"], then["under_replicated"], then["offline"]) == (10, 10, 0)
    assert {row["state"] for row in then["partitions"]} == {"under-replicated"}
    owners = {(row["topic"], row["partition"]): row["owner"] for row in then["owners"]}
    assert owners["orders", 3] == "billing_web-b-1"
    billing = next(row for row in then["groups"] if row["group_id"] == "billing")
    assert (billing["members"], billing["partitions"], billing["status"]) == (2, 6, "OK")


def test_a_broker_has_the_colour_that_it_has_on_charts(client: TestClient) -> None:
    page = client.get(write_address("/at", time=find_moment(client, 30.25))).text
    broker = client.get("/broker?broker_id=2").text
    for number in (1, 2, 3):
        assert f'<rect fill="{colour_broker(number)}"/>' in page
        assert f'fill="{colour_broker(number)}"' in broker


def test_what_differs_from_now(client: TestClient) -> None:
    said = [one["text"] for one in look(client, 50)["differences"]]
    assert "controller was broker 2, is broker 3 now" in said
    assert "topic orders: retention.ms was 604800000, is 86400000 now" in said
    (moved,) = [text for text in said if "another leader" in text]
    assert moved.startswith("3 partitions had another leader: orders-1 (2 → 3)")
    assert "broker 2 was down, is up now" in [
        one["text"] for one in look(client, 30.25)["differences"]
    ]
    (owners,) = [one for one in look(client, 15)["differences"] if one["kind"] == "owner"]
    assert owners["group_id"] == "billing"
    assert owners["text"].startswith("group billing: 3 partitions had another owner")
    latest = client.get("/api/at").json()
    assert (latest["is_last"], latest["differences"]) == (True, [])


@pytest.mark.parametrize(
    ("text", "partitions", "owners"),
    [
        ("orders-3", 1, 1),
        ("ORDERS", 6, 6),
        ("billing_web-a", 0, 3),
        ("broker 2", 10, 7),
        ("nobody-7", 0, 0),
    ],
)
def test_a_search_understands_what_is_named(
    client: TestClient, text: str, partitions: int, owners: int
) -> None:
    then = look(client, 49, q=text)["snapshot"]
    assert (then["partitions_total"], then["owners_total"]) == (partitions, owners)


@pytest.mark.parametrize("text", ["orders-3", "billing", "broker 2", 'it\'s "quoted" $HOME `x`'])
def test_the_command_line_says_the_same_with_the_search(
    client: TestClient, lake: str, text: str
) -> None:
    page = look(client, 15, q=text, raw="1")
    for section in page["sections"]:
        command = shlex.split(page["commands"][section["table"]])
        asked = [*command[1:], "--json", "--lake", lake, "--cluster", CLUSTER]
        told = CliRunner().invoke(zklake, asked)
        assert told.exit_code == 0, told.output
        assert section["rows"] == json.loads(told.stdout)[: len(section["rows"])]
        assert section["total"] == len(json.loads(told.stdout))


def test_a_partition_is_answered_in_a_sentence(client: TestClient) -> None:
    address = write_address("/at", time=find_moment(client, 15), q="orders-3")
    text = " ".join(client.get(address).text.split())
    assert "was led by broker 1 (ISR 1, 2, 3)" in text
    assert "owned by <strong>billing_web-b-1</strong>" in text
    assert "<h3>" not in text, "raw tables are shown on request only"


@pytest.mark.browser
def test_the_slider_and_the_arrows_move_through_time(
    browser: Browser, client: TestClient, lake: str
) -> None:
    options = Options(lake, CLUSTER, stale_after_s=100_000)
    with serve(options) as address, open_page(browser, address) as page:
        start = find_moment(client, 28)
        range_ = {"from": find_moment(client, 60), "to": find_moment(client, 0.2)}
        page.goto(write_address("/at", time=start, **range_))
        page.evaluate("window.isTheSame = true")
        slider, live = page.get_by_label("Time", exact=True).last, page.locator("#live")
        expect(live).not_to_contain_text("up now")
        # Two and a half minutes back: broker 2 was away.
        steps = round(135 / float(slider.get_attribute("step") or 1))
        page.locator("h1").click()
        for _ in range(steps):
            page.keyboard.press("ArrowLeft")
        expect(live).to_contain_text("broker 2 was down, is up now", timeout=60_000)
        assert f"time={start[:16]}" not in page.url.replace("%3A", ":")
        slider.focus()
        for _ in range(steps):
            page.keyboard.press("ArrowRight")
        expect(live).not_to_contain_text("was down", timeout=60_000)
        assert page.evaluate("window.isTheSame")
