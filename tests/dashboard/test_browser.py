from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.options import Options
from tests.dashboard.addresses import ADDRESSES
from tests.dashboard.browser import open_bare_page, open_page
from tests.dashboard.serving import serve
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC
from tests.dashboard.story_lake import CLUSTER, tell_events, tell_news, write_story

pytestmark = pytest.mark.browser

_FITS = "document.documentElement.scrollWidth <= innerWidth"
_LIGHTNESS = "getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_in_both_themes_and_widths(browser: Browser, address: str, width: int) -> None:
    with open_page(browser, address, width=width) as page:
        for path, shown in ADDRESSES.items():
            page.goto(path)
            expect(page.locator("main")).to_contain_text(shown)
            expect(page.locator("h1")).to_be_visible()
            assert page.evaluate(_FITS), f"{path} is wider than {width} pixels"
            for theme in ("dark", "light"):
                page.emulate_media(color_scheme=theme)
                assert _is_dark(page) == (theme == "dark")


def _is_dark(page: Page) -> bool:
    return int(page.evaluate(_LIGHTNESS)) < 128


def test_names_from_the_cluster_do_nothing(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto("/groups")
        page.get_by_role("link", name=HOSTILE_GROUP).click()
        expect(page.locator("h1")).to_contain_text(HOSTILE_GROUP)
        # Also where scripts draw it.
        expect(page.locator(".legend").first).to_contain_text(HOSTILE_TOPIC)
        page.get_by_role("link", name=HOSTILE_TOPIC).first.click()
        expect(page.locator("h1")).to_contain_text(HOSTILE_TOPIC)
        assert page.locator("main img, main b").count() == 0


def test_news_are_shown_without_a_reload(browser: Browser, tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    options = Options(str(tmp_path), CLUSTER, stale_after_s=100_000, refresh_s=0.2)
    with serve(options) as address, open_page(browser, address) as page:
        page.goto("/groups")
        page.evaluate("window.isTheSame = true")
        page.get_by_label("Search groups", exact=True).fill("half a wo")
        members = page.locator("tr", has_text="billing").locator("td").nth(6)
        expect(members).to_have_text("2")
        tell_news(str(tmp_path), "billing")
        expect(members).to_have_text("3")
        assert page.evaluate("window.isTheSame")
        assert page.get_by_label("Search groups", exact=True).input_value() == "half a wo"


def test_a_dashboard_that_is_gone_is_said_until_it_is_back(browser: Browser, lake: str) -> None:
    options = Options(lake, CLUSTER, stale_after_s=100_000)
    with open_bare_page(browser) as page:
        silence = page.locator(".silence")
        with serve(options) as address:
            page.goto(address)
            expect(silence).to_be_hidden()
        expect(silence).to_be_visible()
        with serve(options, port=int(address.rpartition(":")[2])):
            expect(silence).to_be_hidden(timeout=60_000)
            page.goto("about:blank")


def test_a_page_that_may_not_follow_the_lake_says_why(browser: Browser, lake: str) -> None:
    with (
        serve(Options(lake, CLUSTER, live_connections=1)) as address,
        open_bare_page(browser) as first,
        open_bare_page(browser) as second,
    ):
        with first.expect_response("**/live?*"):
            first.goto(f"{address}/groups")
        second.goto(f"{address}/groups")
        expect(second.locator(".silence")).to_contain_text("dashboard.live_connections")
        expect(second.locator("h1")).to_have_text("Groups")


@pytest.mark.parametrize("status", [503, 401, 0])
def test_a_page_that_is_refused_is_said_until_it_is_given(
    browser: Browser, tmp_path: Path, status: int
) -> None:
    write_story(str(tmp_path), groups=1)
    options = Options(str(tmp_path), CLUSTER, stale_after_s=100_000, refresh_s=0.2)
    with serve(options) as address, open_bare_page(browser) as page:
        silence = page.locator(".silence")
        page.goto(f"{address}/groups")
        expect(page.locator(".live-word")).to_be_visible()
        page.route("**/groups*", lambda one: one.fulfill(status=status) if status else one.abort())
        tell_news(str(tmp_path), "billing")
        expect(silence).to_contain_text(f"status {status};" if status else "does not answer")
        expect(page.locator(".live-word")).to_be_hidden()
        page.unroute("**/groups*")
        if status == 401:  # nobody wants to be asked for a password again and again
            tell_news(str(tmp_path), "billing")
        expect(silence).to_be_hidden(timeout=60_000)
        expect(page.locator(".live-word")).to_be_visible()


def test_the_age_of_the_lake_goes_on_where_nothing_else_does(
    browser: Browser, tmp_path: Path
) -> None:
    write_story(str(tmp_path), groups=1)
    options = Options(str(tmp_path), CLUSTER, stale_after_s=100_000, refresh_s=0.2)
    with serve(options) as address, open_page(browser, address) as page:
        page.goto("/sql")
        folded = page.locator("footer time")
        before = folded.text_content() or ""
        fetched = list[str]()
        page.on("request", lambda request: fetched.append(request.url))
        tell_events(str(tmp_path))
        expect(folded).not_to_have_text(before)
        expect(page.locator(".pulse time").first).to_have_text("0 s")
        assert fetched == []


def test_the_toggles_are_remembered(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.emulate_media(color_scheme="light")
        page.goto("/brokers")
        utc = page.locator("td time").first.text_content()
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("button", name="UTC").click()
        for _ in range(2):
            assert _is_dark(page)
            expect(page.get_by_role("button", name="Local")).to_be_visible()
            assert page.locator("td time").first.text_content() != utc
            page.reload()


def test_the_keyboard_is_enough(browser: Browser, address: str) -> None:
    with open_page(browser, address) as page:
        page.goto("/groups")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.get_by_label("Search groups", exact=True).focus()
        page.keyboard.type("team-007")
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.goto("/sql")
        page.get_by_role("textbox").focus()
        page.keyboard.press("Control+Enter")
        expect(page.locator("main")).to_contain_text("3 rows")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        page.keyboard.press("Tab")
        assert page.evaluate(outline) != "none"
