"""The pages, in the order of the menu. One page: one file here, one template."""

from __future__ import annotations

from dashboard.page import Page
from dashboard.pages import (
    alerts,
    at,
    broker,
    brokers,
    changes,
    group,
    groups,
    migration,
    overview,
    quality,
    rebalances,
    search,
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
    broker.PAGE,
    changes.PAGE,
    alerts.PAGE,
    at.PAGE,
    why.PAGE,
    migration.PAGE,
    sql.PAGE,
    search.PAGE,
    quality.PAGE,
)
