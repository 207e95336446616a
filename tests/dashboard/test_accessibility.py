"""What a screen reader and weak eyes need: names, landmarks, headers, contrast, keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from dashboard.options import Options
from tests.dashboard.addresses import ADDRESSES
from tests.dashboard.browser import open_page
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER

pytestmark = pytest.mark.browser

_FAULTS = (Path(__file__).parent / "accessibility.js").read_text()


def test_every_page_can_be_read_by_everybody(browser: Browser, lake: str) -> None:
    options = Options(lake, CLUSTER, stale_after_s=100_000)
    with serve(options) as address, open_page(browser, address) as page:
        for path in ADDRESSES:
            page.goto(path)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                assert page.evaluate(_FAULTS) == [], (path, theme)


def test_the_check_finds_what_is_wrong(browser: Browser, lake: str) -> None:
    options = Options(lake, CLUSTER, stale_after_s=100_000)
    with serve(options) as address, open_page(browser, address) as page:
        page.goto("/groups")
        page.evaluate(
            """() => {
              document.querySelector("main").insertAdjacentHTML("beforeend",
                '<input id="a"><a href="/" id="a"></a><p class="poor">hardly seen</p><h1>2</h1>');
              document.querySelector(".poor").style.color = "#999";
              document.querySelector(".poor").style.background = "#bbb";
            }"""
        )
        found = " ".join(page.evaluate(_FAULTS))
        for wrong in ("no label", "no name", "an id twice", "not one h1", "contrast P.poor"):
            assert wrong in found
