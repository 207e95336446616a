"""Pages that change while somebody looks at them: what changed, and never under the pointer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.options import Options
from delta_tables.catalog import TABLE_BY_NAME
from tests.dashboard.addresses import write_address
from tests.dashboard.browser import open_page
from tests.dashboard.serving import serve
from tests.dashboard.story import Story, write
from tests.dashboard.story_lake import CLUSTER, tell_news, write_story
from tests.delta_tables.small_lake import write_lake, write_rows

pytestmark = pytest.mark.browser

GROUP = write_address("/group", group_id="billing")
# As long as somebody looks at a point of a chart.
HOVER_S = 30
# Beside tests of others on two cores.
PATIENCE_MS = 60_000


@pytest.fixture
def live_lake(tmp_path: Path) -> str:
    write_story(str(tmp_path), groups=1)
    return str(tmp_path)


def _open(lake: str) -> Options:
    return Options(lake, CLUSTER, stale_after_s=100_000, refresh_s=0.2)


def _tell_lag(lake: str, lag: int) -> None:
    """A partition more, so that lines and tables are others."""
    news = Story()
    news.add(
        "offset_lag",
        2,
        None,
        coordinator="zookeeper",
        group_id="billing",
        topic=f"late-{lag}",
        partition=0,
        lag=lag,
        lag_seconds=1.0,
        status="OK",
        sampled_at=write(news.at(0)),
    )
    write_rows(lake, CLUSTER, TABLE_BY_NAME["offset_lag"], news.rows["offset_lag"])


def _count(page: Page, heading: str) -> int:
    section = page.locator("section", has=page.get_by_role("heading", name=heading, exact=True))
    return section.locator("tbody tr").count()


def test_who_points_at_a_chart_loses_nothing_in_30_s(browser: Browser, live_lake: str) -> None:
    with serve(_open(live_lake)) as address, open_page(browser, address) as page:
        page.goto(GROUP)
        over = page.locator(".u-over").first
        expect(over).to_be_visible()
        expect(page.locator(".flag").first).to_be_visible(timeout=PATIENCE_MS)
        box = over.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 60)
        look = """() => [
            document.querySelector('.said').textContent,
            [...document.querySelectorAll('.legend .value')].map((one) => one.textContent).join(),
            document.querySelector('.cross').hidden,
            document.querySelector('.cross').getBoundingClientRect().left,
            document.querySelector('.u-over').getBoundingClientRect().top,
            scrollY,
        ]"""
        seen, members = page.evaluate(look), _count(page, "Members")
        assert seen[2] is False
        news, end = 0, time.monotonic() + HOVER_S
        while time.monotonic() < end:
            tell_news(live_lake, "billing")
            _tell_lag(live_lake, 1_000_000 + news)
            news += 1
            page.wait_for_timeout(1000)
            assert page.evaluate(look) == seen
        # The rest of the page went on, below the pointer and above it.
        members_now = page.locator(".facts div", has_text="Members now").locator("dd")
        expect(members_now).to_have_text(str(2 + news), timeout=PATIENCE_MS)
        page.wait_for_function(
            "(count) => document.querySelectorAll('section:last-of-type tbody tr').length >= count",
            arg=members + news,
            timeout=PATIENCE_MS,
        )
        assert page.evaluate(look) == seen
        # Once the pointer is elsewhere, the chart has what it missed.
        page.mouse.move(2, 2)
        expect(page.locator(".legend").first).to_contain_text("late-", timeout=PATIENCE_MS)


def test_tables_and_the_page_stay_where_they_were_scrolled_to(
    browser: Browser, live_lake: str
) -> None:
    with serve(_open(live_lake)) as address, open_page(browser, address, width=390) as page:
        page.goto(GROUP)
        expect(page.locator(".panel").first).to_be_visible()
        tables = page.locator(".scroll")
        places = "() => [...document.querySelectorAll('.scroll')].map((one) => one.scrollLeft)"
        tables.evaluate_all("all => all.forEach((one) => { one.scrollLeft = 77; })")
        page.evaluate("scrollTo(0, document.querySelector('.facts').offsetTop + 300)")
        page.evaluate("window.kept = [...document.querySelectorAll('.scroll, figure, canvas')]")
        before = page.evaluate(places)
        top = page.evaluate("scrollY")
        assert before.count(77) >= 3
        members = _count(page, "Members")
        for number in range(3):
            tell_news(live_lake, "billing")
            page.wait_for_function(
                "(count) => document.querySelectorAll('section:last-of-type tbody tr').length "
                "=== count",
                arg=members + number + 1,
                timeout=PATIENCE_MS,
            )
        assert page.evaluate(places) == before
        assert page.evaluate("scrollY") == top
        # They are the same things, and not others in their place.
        assert page.evaluate("window.kept.every((one) => one.isConnected)")


def test_what_is_under_the_pointer_waits_until_it_has_gone(
    browser: Browser, live_lake: str
) -> None:
    with serve(_open(live_lake)) as address, open_page(browser, address) as page:
        page.goto("/groups")
        heads = page.locator("thead th").all_inner_texts()
        place = next(n for n, head in enumerate(heads) if "members" in head.lower())
        members = page.locator("tr", has_text="billing").locator("td").nth(place)
        expect(members).to_have_text("2")
        members.hover()
        tell_news(live_lake, "billing")
        expect(page.locator("body")).to_have_class("held", timeout=PATIENCE_MS)
        expect(members).to_have_text("2")
        page.mouse.move(2, 2)
        expect(members).to_have_text("3", timeout=PATIENCE_MS)
        expect(page.locator("body")).not_to_have_class("held")


def test_long_names_are_cut_and_fit(browser: Browser, tmp_path: Path) -> None:
    story, topic, group = Story(), "t" * 249, "g" * 4000
    names = {"coordinator": "zookeeper", "group_id": group, "topic": topic}
    for partition in range(12):
        story.add("offset_lag", 40, None, **names, partition=partition, lag=5 + partition,
                  lag_seconds=2.0, status="OK", sampled_at=write(story.at(0)))  # fmt: skip
        story.add("ownership_history", 40, None, **names, partition=partition, is_known=True,
                  owner="m" * 900, owner_member_id="m" * 900)  # fmt: skip
    formula = {**names, "topic": "=1+1"}
    story.add("offset_lag", 40, None, **formula, partition=0, lag=500, lag_seconds=1.0,
              status="OK", sampled_at=write(story.at(0)))  # fmt: skip
    write_lake(str(tmp_path), CLUSTER, story.rows)
    for width in (1280, 390):
        with (
            serve(_open(str(tmp_path))) as address,
            open_page(browser, address, width=width) as page,
        ):
            page.goto(write_address("/group", group_id=group))
            expect(page.locator(".panel").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            box = page.locator("#incident").bounding_box()
            assert box is not None
            assert box["height"] < 1600
            # The number of the partition is seen, however long its topic's name.
            expect(page.locator(".track .lane-label").last).to_contain_text("-11")
            names_seen = page.locator(".legend button").first.get_attribute("title") or ""
            assert len(names_seen) >= 5
            assert page.evaluate("document.documentElement.scrollHeight") < 3500
            with page.expect_download() as saved:
                page.get_by_role("button", name="CSV").click()
            saved.value.save_as(tmp_path / "rows.csv")
            text = (tmp_path / "rows.csv").read_text()
            # A spreadsheet would run it otherwise.
            assert ",'=1+1-0," in text
            assert ",=1+1" not in text
