"""Every page of the dashboard over some lake: what a request takes while the lake stands still."""

from __future__ import annotations

import time
from typing import Any

from bench.figures import Figure, percentile

_REQUESTS = 40


def measure_pages(lake: str, cluster: str, group: str, topic: str) -> list[Figure]:
    """p95 of each page, warm; and the first request, when nothing is cached."""
    from starlette.testclient import TestClient

    from dashboard.app import build_app
    from dashboard.options import Options

    client: Any = TestClient(build_app(Options(lake, cluster)).asgi, base_url="http://127.0.0.1")
    cold, figures = [], []
    for name, address in _list_pages(group, topic):
        first, *warm = [_ask(client, address) for _ in range(_REQUESTS + 1)]
        cold.append(first)
        figures.append(Figure(f"page {name}, p95 warm", [percentile(warm, 0.95)], "ms", "≤ 300"))
    return [*figures, Figure("pages, first request", cold, "ms")]


def _ask(client: Any, address: str) -> float:
    began = time.monotonic()
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return 1e3 * (time.monotonic() - began)


def _list_pages(group: str, topic: str) -> list[tuple[str, str]]:
    return [
        ("overview", "/"),
        ("groups", "/groups"),
        ("groups, searched", "/groups?q=99"),
        ("groups, page 7 by lag", "/groups?sort=-lag&page=7"),
        ("group", f"/group?group_id={group}"),
        ("rebalances", "/rebalances"),
        ("topics", "/topics"),
        ("topic", f"/topic?topic={topic}"),
        ("brokers", "/brokers"),
        ("changes", "/changes"),
        # A moment that stands still: what is asked of `now` is another question each time.
        ("time machine", "/at?time=2026-11-15T12:00:00Z"),
        ("why", f"/why?group_id={group}"),
        ("SQL", "/sql"),
        ("data quality", "/quality"),
    ]
