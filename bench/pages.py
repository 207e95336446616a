"""Every page of the dashboard: what a request takes, warm and right after a commit, on two lakes.

A lake that stands still is answered from what is kept. While the slowest page is made, /healthz and
the live stream of another page are asked for: nothing may wait for it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

from bench.figures import Figure, percentile
from bench.page_lakes import PageLake, make_lakes
from bench.stage import Stage
from delta_tables import reading

_GOAL = "≤ 300"
_BESIDE_GOAL = "≤ 50"
# Longer than a look at the lake is good for.
_NOTICED_S = 0.6


@dataclass(frozen=True)
class Plan:
    """How often."""

    commits: int
    warm: int


_FULL, _QUICK = Plan(commits=20, warm=20), Plan(commits=2, warm=2)


class Times(NamedTuple):
    """Within the lake: its last hour, and a moment in the middle of it all."""

    start: str
    end: str
    moment: str


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """p50 and p95 of each page on each lake."""
    plan = _QUICK if quick else _FULL
    figures = []
    for lake in make_lakes(stage.directory, quick=quick):
        print(f"pages: {lake.says}", file=sys.stderr, flush=True)
        figures += measure_pages(lake, plan)
    return figures


def measure_pages(lake: PageLake, plan: Plan) -> list[Figure]:
    """Of one lake: after each commit every page once, and then every page again."""
    took: dict[str, dict[str, list[float]]] = {"after a commit": {}, "warm": {}}
    with _serving(lake) as address:
        pages = list_pages(lake.group, lake.topic, find_times(lake.path, lake.cluster))
        first = {name: _ask(address + path) for name, path in pages}
        for _ in range(plan.commits):
            lake.commit()
            time.sleep(_NOTICED_S)
            for name, path in pages:
                took["after a commit"].setdefault(name, []).append(_ask(address + path))
        for _ in range(plan.warm):
            for name, path in pages:
                took["warm"].setdefault(name, []).append(_ask(address + path))
        slowest = max(pages, key=lambda page: percentile(took["after a commit"][page[0]], 0.95))
        beside = _measure_beside(address, slowest[1], lake.commit)
    figures = [
        Figure(f"{lake.says}: {name}, {when}, {share:.0%}", [percentile(ms, share)], "ms", goal)
        for when, pages_took in took.items()
        for name, ms in pages_took.items()
        for share, goal in ((0.5, ""), (0.95, _GOAL))
    ]
    says = f"{lake.says}: while {slowest[0]} is made"
    return [
        *figures,
        Figure(f"{lake.says}: first request of each", list(first.values()), "ms"),
        *(
            Figure(f"{says}, {what}, 95%", [percentile(ms, 0.95)], "ms", _BESIDE_GOAL)
            for what, ms in beside.items()
        ),
    ]


def _measure_beside(
    address: str, slowest: str, commit: Callable[[], object]
) -> dict[str, list[float]]:
    """/healthz, and the first event of a live stream, asked on and on while that page is made."""
    took: dict[str, list[float]] = {"/healthz": [], "live events": []}
    for _ in range(3):
        commit()
        time.sleep(_NOTICED_S)
        page = threading.Thread(target=_ask, args=(address + slowest,))
        page.start()
        while page.is_alive() or not took["live events"]:
            took["/healthz"].append(_ask(f"{address}/healthz"))
            took["live events"].append(_ask_event(address))
        page.join()
    return took


def _ask_event(address: str) -> float:
    began = time.monotonic()
    with urlopen(f"{address}/live?page=overview", timeout=60) as stream:  # noqa: S310
        while not stream.readline().startswith(b"event:"):
            pass
    return 1e3 * (time.monotonic() - began)


@contextmanager
def _serving(lake: PageLake) -> Iterator[str]:
    """The real server, in this process as in its own; yields its address."""
    from dashboard.app import build_app
    from dashboard.options import Options
    from dashboard.server import Server, listen

    taken = listen("127.0.0.1:0")
    server = Server(build_app(Options(lake.path, lake.cluster)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        taken.close()


def _ask(address: str) -> float:
    began = time.monotonic()
    with urlopen(address, timeout=120) as answer:  # noqa: S310
        answer.read()
        assert answer.status == 200, (address, answer.status)
    return 1e3 * (time.monotonic() - began)


def find_times(lake: str, cluster: str) -> Times:
    """By the lake's own events: now may be long after them."""
    (row,) = reading.read_rows(
        lake,
        cluster,
        "SELECT min(observed_at_ms) AS first, max(observed_at_ms) AS last FROM znode_events",
    )
    first, end = (datetime.fromtimestamp(row[name] / 1000, UTC) for name in ("first", "last"))
    start = max(first, end - timedelta(hours=1))
    return Times(*(_write(at) for at in (start, end, first + (end - first) / 2)))


def _write(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def list_pages(group: str, topic: str, times: Times) -> list[tuple[str, str]]:
    """Names and addresses."""
    span = {"from": times.start, "to": times.end}
    pages: list[tuple[str, str, dict[str, str]]] = [
        ("overview", "/", span),
        ("groups", "/groups", span),
        ("groups, searched", "/groups", {"q": "99"} | span),
        ("groups, page 7 by lag", "/groups", {"sort": "-lag", "page": "7"} | span),
        ("group", "/group", {"group_id": group} | span),
        ("rebalances", "/rebalances", span),
        ("topics", "/topics", span),
        ("topic", "/topic", {"topic": topic} | span),
        ("brokers", "/brokers", span),
        ("changes", "/changes", span),
        ("time machine", "/at", {"time": times.moment}),
        ("why", "/why", {"group_id": group} | span),
        ("SQL", "/sql", {}),
        ("data quality", "/quality", span),
    ]
    return [(name, f"{path}?{urlencode(asked)}") for name, path, asked in pages]
