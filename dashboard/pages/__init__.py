"""The pages, in the order of the menu. One page: one file here, one template."""

from __future__ import annotations

from dashboard.page import Page
from dashboard.pages import (
    at,
    brokers,
    changes,
    group,
    groups,
    overview,
    quality,
    rebalances,
    sql,
    topic,
    topics,
    why,
)

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    groups.PAGE,
    group.PAGE,
    rebalances.PAGE,
    topics.PAGE,
    topic.PAGE,
    brokers.PAGE,
    changes.PAGE,
    at.PAGE,
    why.PAGE,
    sql.PAGE,
    quality.PAGE,
)
