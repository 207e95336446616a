"""The pictures of README.md and docs/tour.md: each is a page of the story, as anybody would see it.

ZKLAKE_PICTURES=docs/pictures makes them anew; else the pages are only looked at.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from dashboard.options import Options
from tests.dashboard.addresses import write_address
from tests.dashboard.browser import open_page
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER

ROOT = Path(__file__).parents[2]
WANTED = os.environ.get("ZKLAKE_PICTURES")


class Picture(NamedTuple):
    address: str
    shows: str
    theme: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 900


PICTURES = {
    "overview": Picture("/", "Groups with the most lag"),
    "overview-dark-390": Picture("/", "Groups with the most lag", "dark", 390),
    "group": Picture(write_address("/group", group_id="billing"), "Nobody read", height=1330),
    "why": Picture(write_address("/why", group_id="billing"), "records,", height=1200),
    "rebalances-dark": Picture(write_address("/rebalances", last="24h"), "in 10 min", "dark"),
    "at": Picture(write_address("/at", time="-30m15s"), "What differs from now"),
}


def test_the_documents_show_these_pictures() -> None:
    texts = [(ROOT / name).read_text() for name in ("README.md", "docs/tour.md")]
    shown = {name for text in texts for name in re.findall(r"pictures/([\w-]+)\.png", text)}
    kept = {path.name for path in (ROOT / "docs" / "pictures").iterdir()}
    assert set(PICTURES) == shown
    assert {f"{name}.png" for name in PICTURES} == kept


@pytest.mark.browser
def test_a_picture_shows_what_it_is_of(browser: Browser, lake: str) -> None:
    with serve(Options(lake, CLUSTER, stale_after_s=100_000)) as address:
        for name, picture in PICTURES.items():
            with open_page(browser, address, width=picture.width) as page:
                page.emulate_media(color_scheme=picture.theme)
                page.set_viewport_size({"width": picture.width, "height": picture.height})
                page.goto(picture.address)
                expect(page.locator("main")).to_contain_text(picture.shows)
                if page.locator(".causes").count():
                    expect(page.locator(".flag").first).to_be_visible(timeout=60_000)
                if WANTED:
                    page.wait_for_timeout(300)
                    page.screenshot(path=Path(WANTED) / f"{name}.png")
