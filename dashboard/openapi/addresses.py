"""Every GET address but the pages for people, the stream of news and the static files."""

from __future__ import annotations

from inspect import cleandoc
from sys import modules
from typing import Any

from dashboard.dialects.burrow.description import describe_burrow
from dashboard.metrics.description import METRIC_ADDRESSES
from dashboard.openapi.address import Address, DocumentedAnswer, answer_json, fail
from dashboard.openapi.shapes import Compiled
from dashboard.page import Page
from dashboard.pages import PAGES

_OTHERS: tuple[Address, ...] = (
    Address(
        "/api/openapi.json",
        "openapi",
        "This description",
        "OpenAPI 3.1.",
        {200: answer_json("The document.", Compiled(dict[str, Any]))},
    ),
    Address(
        "/healthz",
        "health",
        "Health",
        "Whether the dashboard itself is up.",
        {200: DocumentedAnswer("It is.")},
        is_open=True,
    ),
    Address(
        "/readyz",
        "readiness",
        "Readiness",
        "Whether the lake has data.",
        {
            200: DocumentedAnswer("The lake has data."),
            503: DocumentedAnswer("The lake has no data yet."),
        },
        is_open=True,
    ),
)


def list_addresses() -> tuple[Address, ...]:
    """Pages in the order of the menu, then the others."""
    return (
        *(_describe_page(page) for page in PAGES),
        *_OTHERS,
        *METRIC_ADDRESSES,
        *describe_burrow(),
    )


def _describe_page(page: Page) -> Address:
    # A page's file says what it is for.
    says = cleandoc(modules[page.load.__module__].__doc__ or "").partition("\n\n")[0]
    return Address(
        f"/api/{page.name}",
        page.name,
        page.title,
        says,
        {
            200: answer_json("What the page shows.", page.compiled),
            400: fail("A parameter is unknown, missing, or not as described."),
            404: fail("It names a group, a topic or a broker that was never seen."),
            503: fail("The lake cannot be read, or too many ask at a time."),
        },
        page.all_params,
    )
