"""The time range of a page, as its address says it. No clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from delta_tables.live.span import Span, read_moment
from zklake.errors import QueryError

CHOICES = ("15m", "1h", "6h", "24h", "7d", "30d")
DEFAULT = "1h"
# So many weeks or days before now are still a year that SQL can count.
LAST_PATTERN = "^([1-9][0-9]{0,4}[smh]|[1-9][0-9]{0,3}d|[1-9][0-9]{0,2}w)$"
# What it should have been, for whoever wrote something else.
LAST_FORMS = "a time span. Use a number and a unit: 15m, 1h, 7d"
# The forms of a moment that are promised; `parse_moment` may know more.
MOMENT_PATTERN = (
    "^(now|-([0-9]{1,9}[wdhms])+|[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?)$"
)


def read_span(params: Mapping[str, str], now: datetime) -> Span:
    """`last=1h`, or `from` and `to` as `zklake at` takes them; QueryError says what is wrong."""
    if params.get("from") or params.get("to"):
        end = read_moment(params.get("to") or "now", now).at
        start = (
            read_moment(params["from"], now).at if params.get("from") else end - timedelta(0, 3600)
        )
        if start >= end:
            raise QueryError(
                "The time range ends before it begins. Set `from` to a time before `to`."
            )
        return Span(start, end)
    last = params.get("last") or DEFAULT
    if not re.fullmatch(LAST_PATTERN, last):
        raise QueryError(f"last: cannot read {last!r} as {LAST_FORMS}")
    return Span(read_moment(f"-{last}", now).at, now, last)
