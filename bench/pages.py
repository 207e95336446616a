"""Every page of the dashboard over some lake, asked for its last hour: what a request takes.

A lake that stands still is answered from what is cached; so a commit may come between requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.figures import Figure, percentile
from delta_tables import reading

_REQUESTS = 40
# So many requests lie between two commits.
_COMMIT_EVERY = 10


class Times(NamedTuple):
    """Within the lake: its last hour, and a moment in the middle of it all."""

    start: str
    end: str
    moment: str


def measure_pages(
    lake: str, cluster: str, group: str, topic: str, commit: Callable[[], object] | None = None
) -> list[Figure]:
    """p95 of each page, warm; and the first request, when nothing is cached."""
    from starlette.testclient import TestClient

    from dashboard.app import build_app
    from dashboard.options import Options

    client: Any = TestClient(build_app(Options(lake, cluster)).asgi, base_url="http://127.0.0.1")
    says = "p95 warm" if commit is None else f"p95, a commit every {_COMMIT_EVERY} requests"
    cold, figures = [], []
    for name, address in list_pages(group, topic, find_times(lake, cluster)):
        first, *warm = list(_ask_often(client, address, commit))
        cold.append(first)
        figures.append(Figure(f"page {name}, {says}", [percentile(warm, 0.95)], "ms", "≤ 300"))
    return [*figures, Figure("pages, first request", cold, "ms")]


def _ask_often(client: Any, address: str, commit: Callable[[], object] | None) -> Iterator[float]:
    for number in range(_REQUESTS + 1):
        if commit is not None and number and number % _COMMIT_EVERY == 0:
            commit()
        yield _ask(client, address)


def _ask(client: Any, address: str) -> float:
    began = time.monotonic()
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
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
