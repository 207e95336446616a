"""With a page open, parts of a real `zklake run` are killed -9, one after the other.

The page says what is stale and since when, and is live again by itself: nobody reloads it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page

from lab.ports import find_free_ports
from tests.dashboard.browser import launch, open_page
from tests.e2e.running import PATIENCE_S, Run, running

pytestmark = [pytest.mark.faults, pytest.mark.browser, pytest.mark.timeout(2400)]

_BROKERS = ("broker-0", "broker-1")
# At one moment: between two questions the page may have changed itself. Times stand behind texts.
_LOOK = """() => {
  const tell = (query) => [...document.querySelectorAll(query)].map((one) =>
    [one.innerText, ...[...one.querySelectorAll("time")].map((at) => at.dateTime)].join(" "));
  return [tell(".pulse li"), tell(".cards")[0], tell(".happenings li"), tell(".pulse:not(.bad)")];
}"""


def test_the_page_says_what_is_stale_since_when_and_recovers(tmp_path: Path) -> None:
    with showing(tmp_path / "run") as (run, page):
        begun_at = datetime.now(UTC)
        wait_until(page, "live at first", lambda shown: shown.is_live(begun_at))
        page.evaluate("window.isTheSame = true")
        face(page, run, ["watch"], lambda shown: shown.complain("The watcher has been down since"))
        face(page, run, ["stream"], lambda shown: shown.complain("The stream has been down since"))
        # Without one of two the log goes on: nothing is stale, but it left and when is told.
        face(page, run, ["broker-1"], lambda shown: shown.tell("broker 1 left"))
        face(page, run, ["zookeeper-1"], lambda shown: shown.complain("ZooKeeper does not answer"))
        # Then nobody has the log: it can be neither written nor read.
        face(page, run, _BROKERS, lambda shown: shown.complain("the log's Kafka"))
        assert page.evaluate("window.isTheSame"), "the page was loaded anew"


class Shown(NamedTuple):
    """What the page shows at one moment."""

    complaints: list[str]
    cards: str
    happenings: list[str]
    # Unless there are complaints.
    pulse: list[str]

    def complain(self, words: str) -> str | None:
        return next((line for line in self.complaints if words in line), None)

    def tell(self, words: str) -> str | None:
        """Among what happened."""
        return next((line for line in self.happenings if words in line), None)

    def is_live(self, since: datetime) -> bool:
        """No complaint, no gap, every broker there, and something was seen after that moment."""
        is_well = "Live" in "".join(self.pulse) and "no coverage gap" in self.cards
        are_up = re.search(rf"\b{len(_BROKERS)} up", self.cards) and "down:" not in self.cards
        return bool(is_well and are_up) and read_time(self.pulse[0]) > since


@contextmanager
def showing(place: Path) -> Iterator[tuple[Run, Page]]:
    """A run where nothing happens but what we do, and its first page."""
    address = f"127.0.0.1:{find_free_ports(1)[0]}"
    options = ["--brokers", str(len(_BROKERS)), "--calm", "--http", address]
    with running(place, *options) as run:
        run.wait_for(f"dashboard: http://{address}")
        with launch() as browser, open_page(browser, f"http://{address}") as page:
            page.goto("/")
            yield run, page
    assert run.process.exit_code == 0


def face(page: Page, run: Run, names: Sequence[str], find: Callable[[Shown], str | None]) -> None:
    """Kill them; `find` returns what the page says of it, and since when."""
    killed_at = datetime.now(UTC)
    run.kill(*names)
    what = " and ".join(names)
    said = " ".join(str(wait_until(page, f"{what} killed: said", find)).split())
    said_at = datetime.now(UTC)
    assert killed_at.replace(microsecond=0) <= read_time(said) <= said_at, said
    wait_until(page, f"{what} killed: live again", lambda shown: shown.is_live(said_at))
    first_s, last_s = ((at - killed_at).total_seconds() for at in (said_at, datetime.now(UTC)))
    print(f"{what} killed: said after {first_s:.1f} s, live after {last_s:.1f} s: {said}")


def wait_until(page: Page, what: str, find: Callable[[Shown], str | bool | None]) -> str | bool:
    """Look at the page until it shows that."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := find(shown := Shown(*page.evaluate(_LOOK)))):
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S} s: {shown}"
        page.wait_for_timeout(50)
    return found


def read_time(text: str) -> datetime:
    found = re.search(r"\d{4}-\d\d-\d\dT[\d:.]+Z", text)
    assert found, text
    return datetime.fromisoformat(found[0])
