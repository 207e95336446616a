"""The incident view in a browser: one axis, one crosshair, zoom on all, marks with evidence."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.dashboard.addresses import write_address
from tests.dashboard.browser import open_page
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC

pytestmark = pytest.mark.browser

GROUP = write_address("/group", group_id="billing")
WHY = write_address("/why", group_id="billing")
_COLOURS = """Object.fromEntries([...document.querySelectorAll('.legend button')].map(
    (one) => [one.title, getComputedStyle(one.querySelector('.swatch')).backgroundColor]))"""


def _measure(place: Locator) -> tuple[float, float]:
    """Where it begins and ends, from left to right."""
    box = place.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


def _find_middle(place: Locator, share: float = 0.5) -> tuple[float, float]:
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def _drag(page: Page, place: Locator, start: float, end: float) -> None:
    """From one share of its width to another."""
    x, y = _find_middle(place, start)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(_find_middle(place, end)[0], y, steps=5)
    page.mouse.up()


@pytest.mark.parametrize("width", [1280, 390])
def test_lines_lanes_and_axis_share_one_column_of_pixels(
    browser: Browser, address: str, width: int
) -> None:
    with open_page(browser, address, width=width) as page:
        for path in (GROUP, WHY, write_address("/topic", topic="orders")):
            page.goto(path)
            expect(page.locator(".u-over").nth(2)).to_be_visible()
            column = _measure(page.locator("#incident .over"))
            places = page.locator("#incident .u-over, #incident .lane-bars, #incident .axis-texts")
            assert places.count() > 10
            for number in range(places.count()):
                assert _measure(places.nth(number)) == pytest.approx(column, abs=1)
            # The lines through all panels stand above the times of the axis.
            ticks, lines = (
                page.locator("#incident .axis text"),
                page.locator("#incident .grid line"),
            )
            assert ticks.count() == lines.count() > 2
            for number in range(ticks.count()):
                tick, line = _measure(ticks.nth(number)), _measure(lines.nth(number))
                assert sum(tick) / 2 == pytest.approx(sum(line) / 2, abs=1)


def test_one_crosshair_reads_every_panel(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto(GROUP)
        cross, tracks = page.locator(".cross"), page.locator(".tracks")
        expect(page.locator(".panel")).to_have_count(3)
        now = page.locator(".legend .value").all_text_contents()
        height = page.evaluate("document.documentElement.scrollHeight")
        places = (".u-over >> nth=0", ".u-over >> nth=2", ".track .lane-bars >> nth=0")
        for place in (*places, ".track .lane-bars >> nth=-1"):
            x, y = _find_middle(page.locator(place), 0.75)
            page.mouse.move(x, y)
            expect(cross).to_be_visible()
            assert _measure(cross)[0] == pytest.approx(x, abs=1)
            high = "one => one.getBoundingClientRect().height"
            assert cross.evaluate(high) == tracks.evaluate(high)
            expect(page.locator(".said strong")).to_contain_text("UTC")
            assert page.locator(".legend .value").all_text_contents() != now
        # What is read moves nothing.
        assert page.evaluate("document.documentElement.scrollHeight") == height
        page.mouse.move(2, 2)
        expect(cross).to_be_hidden()
        assert page.locator(".legend .value").all_text_contents() == now


def test_a_drag_on_any_panel_zooms_all_of_them(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        for place in (".u-over >> nth=0", ".u-over >> nth=2", ".track .lane-bars >> nth=2"):
            page.goto(GROUP)
            colours = page.evaluate(_COLOURS)
            assert len(colours) >= 8
            _drag(page, page.locator(place), 0.5, 0.9)
            page.wait_for_url(re.compile(r"from=.+&to=.+"))
            expect(page.locator(".panel")).to_have_count(3)
            given = parse_qs(urlsplit(page.url).query)
            shown = page.evaluate("JSON.parse(document.querySelector('#incident script').text)")
            assert shown["figure"]["start"][:19] == given["from"][0][:19]
            assert shown["figure"]["end"][:19] == given["to"][0][:19]
            # Nothing lies over the chart, and a name has its colour still.
            expect(page.locator(".custom")).to_be_hidden()
            assert colours == page.evaluate(_COLOURS)
        near = page.url
        page.get_by_role("button", name="Zoom out").click()
        page.wait_for_url(lambda url: url != near)


def test_a_moment_is_pinned_and_kept_in_the_address(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto(GROUP)
        x, _ = _find_middle(page.locator(".u-over").first, 0.75)
        page.mouse.click(*_find_middle(page.locator(".u-over").first, 0.75))
        page.mouse.move(2, 2)
        expect(page.locator(".pin")).to_be_visible()
        assert _measure(page.locator(".pin"))[0] == pytest.approx(x, abs=2)
        pinned = page.locator(".said strong").text_content()
        page.locator(".legend button", has_text="orders").nth(1).click()
        page.reload()
        expect(page.locator(".said strong")).to_have_text(pinned or "")
        expect(page.locator('.legend [aria-pressed="true"]').first).to_be_visible()
        # Arrow keys move it, and it leads to the time machine.
        page.locator(".tracks").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".said strong")).not_to_have_text(pinned or "")
        page.get_by_role("link", name="Time machine").last.click()
        page.wait_for_url(re.compile(r"/at\?.*time=2"))


def test_every_mark_leads_to_its_evidence(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto(GROUP)
        marks = page.locator(".track .lane-bars [data-from]")
        assert marks.count() > 30
        assert marks.count() == page.locator(".track .lane-bars a[href][data-from]").count()
        names = page.locator(".track").evaluate_all("all => all.map((one) => one.ariaLabel)")
        assert names == [
            *("Owners", "Rebalances", "Leaders and ISR", "Brokers", "Changes", "Coverage gaps")
        ]
        hole = page.locator('.track a[aria-label^="orders-0 without an owner: 2 min"]')
        hole.hover()
        expect(page.locator(".tip")).to_have_text("orders-0 without an owner: 2 min 30 s")
        hole.click()
        expect(page.locator("h1")).to_have_text("SQL")
        expect(page.locator("main table").first).to_contain_text("billing_web-a-0")


def test_the_causes_of_why_stand_on_the_axis(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto(WHY)
        found = page.locator(".findings .number-mark")
        expect(page.locator(".flag")).to_have_count(found.count())
        assert found.count() > 1
        expect(page.locator(".rise")).to_contain_text("records")
        first = page.locator(".flag", has_text="1")
        first.hover()
        expect(page.locator(".tip")).to_contain_text(re.compile(r"cause 1: [\d,]+ records, \d+ %"))
        # A group's page asks Why for them.
        page.goto(GROUP)
        expect(page.locator(".flag")).to_have_count(2, timeout=60_000)


def test_causes_that_could_not_be_asked_are_not_said_to_be_none(
    browser: Browser, address: str
) -> None:
    with open_page(browser, address) as page:
        page.add_init_script(
            """const fetched = window.fetch;
            window.fetch = (address, ...rest) => String(address).includes("/why")
              ? Promise.resolve(new Response("busy", { status: 503 })) : fetched(address, ...rest);
            """
        )
        page.goto(GROUP)
        expect(page.locator(".flags")).to_contain_text("the causes could not be asked")


def test_what_is_seen_can_be_taken_away(browser: Browser, address: str, tmp_path: Path) -> None:
    with open_page(browser, address) as page:
        page.goto(GROUP)
        expect(page.locator(".panel")).to_have_count(3)
        with page.expect_download() as saved:
            page.get_by_role("button", name="CSV").click()
        saved.value.save_as(tmp_path / "rows.csv")
        rows = list(csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text())))
        kinds = {row["kind"] for row in rows}
        assert {"Lag", "Time lag", "Rate", "Owners", "Brokers", "Coverage gaps"} <= kinds
        peak = max(
            int(row["value"]) for row in rows if (row["kind"], row["name"]) == ("Lag", "total")
        )
        shown = page.locator(".facts div", has_text="Peak lag").locator("dd").text_content() or ""
        assert peak == int(shown.replace(",", ""))
        with page.expect_download() as saved:
            page.get_by_role("button", name="PNG").click()
        saved.value.save_as(tmp_path / "picture.png")
        picture = (tmp_path / "picture.png").read_bytes()
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"
        width = int.from_bytes(picture[16:20])
        assert width > 1500
        assert saved.value.suggested_filename.startswith("zklake-Groups-billing-2")


def test_every_axis_says_in_which_zone_it_is(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        for path in ("/", GROUP, WHY, "/brokers"):
            page.goto(path)
            axes = page.locator(".axis .lane-label")
            expect(axes.first).to_have_text("UTC")
            page.get_by_role("button", name="UTC").click()
            expect(axes.first).to_have_text("UTC+05:30")
            page.get_by_role("button", name="Local").click()
        page.goto(GROUP)
        times = page.locator("td time").all_text_contents()
        assert times
        assert all(time.endswith("Z") for time in times)


def test_hostile_names_are_only_names(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto(write_address("/group", group_id=HOSTILE_GROUP))
        names = page.locator(".legend button").evaluate_all("all => all.map((one) => one.title)")
        assert f"{HOSTILE_TOPIC}-0" in names
        expect(page.locator(".track .lane-label").first).to_contain_text(HOSTILE_TOPIC)
        page.locator(".track .lane-bars a").first.hover()
        expect(page.locator(".tip")).to_contain_text("'; DROP TABLE topics; --")
        assert page.locator("main img, main b").count() == 0
