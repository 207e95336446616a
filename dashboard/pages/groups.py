"""Groups: every consumer group with its lag and status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from dashboard.listing import describe_list, list_page, list_params
from dashboard.openapi.params import Param
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Named, choose, say
from dashboard.page import Asked, Data, Page
from dashboard.sparklines import draw_line, load_lag_lines
from delta_tables.live.tables import Row, Tables
from delta_tables.reading import quote
from delta_tables.statuses import ORDER, name_severity, write_severity

READS = ("offset_lag", "consumer_membership", "ownership_history", "consumer_offsets", "rebalances")

_LAG = f"""
SELECT coordinator, group_id, count(*) AS partitions,
  sum(lag) AS lag, max(lag_seconds) AS lag_seconds, max({write_severity("status")}) AS severity,
  sum(velocity) AS trend,
  count(*) FILTER (WHERE owner IS NULL) AS unowned, max(committed_at) AS last_commit_at
FROM lag_now
WHERE true{{only}}
GROUP BY coordinator, group_id
"""  # noqa: S608
_COMMITS = """
SELECT coordinator, group_id, count(*) AS partitions,
  max(valid_from_at) AS last_commit_at
FROM consumer_offsets
WHERE is_open{only}
GROUP BY coordinator, group_id
"""
_OWNERS = """
SELECT coordinator, group_id, count(*) AS partitions
FROM ownership_history
WHERE is_open{only}
GROUP BY coordinator, group_id
"""
_MEMBERS = """
SELECT coordinator, group_id, count(*) AS members
FROM consumer_membership
WHERE is_open{only}
GROUP BY coordinator, group_id
"""
_REBALANCES = """
SELECT coordinator, group_id, count(*) AS rebalances
FROM rebalances
WHERE {within}
GROUP BY coordinator, group_id
"""
EMPTY: dict[str, Any] = {
    "status": None,
    "severity": None,
    "lag": None,
    "lag_seconds": None,
    "partitions": 0,
    "members": 0,
    "unowned": 0,
    "last_commit_at": None,
    "trend": None,
}


_STATUS = choose(*ORDER) | None
GROUP = Named(
    "Group",
    {
        **describe_rows(
            _LAG,
            partitions=int,
            lag=say(int | None, "records not read yet, over all its partitions"),
            lag_seconds=say(float | None, "time lag of the partition that is farthest behind"),
            severity=say(int | None, "how bad its status is, 0 for OK"),
            unowned=say(int, "partitions without an owner"),
            trend=say(float | None, "records per second by which its lag grows"),
            last_commit_at=Instant | None,
        ),
        "status": say(_STATUS, "that of its worst partition (docs/status.md); null: not known"),
        "members": int,
    },
)
STATUS_COUNT = Named("StatusCount", {"status": _STATUS, "groups": int})
_LINE = say(list[float | None], "its lag over the time range, in thirty parts, at most in each")
GROUP_WITH_LINE = Named("GroupWithLine", {**GROUP.shape, "line": _LINE})
_LISTED = Named("SortedGroup", {**GROUP.shape, "rebalances": say(int, "in the time range")})
_SHOWN = Named("ListedGroup", {**_LISTED.shape, "line": _LINE})


def list_groups(tables: Tables, group_id: str | None = None) -> list[Row]:
    """Every group that any table knows, as it is now; or those of one name."""
    only = "" if group_id is None else f" AND group_id = {quote(group_id)}"
    return tables.derive(("groups", only), READS[:-1], lambda: _join(tables, only))


def _join(tables: Tables, only: str) -> list[Row]:
    groups: dict[tuple[str, str], Row] = {}
    sources = [(_MEMBERS, "consumer_membership"), (_LAG, "lag_now")]
    if not tables.query(_LAG.format(only=only), "lag_now"):
        # Nobody samples log ends: what was committed and owned is still known.
        sources = [(_OWNERS, "ownership_history"), (_COMMITS, "consumer_offsets"), *sources]
    for sql, table in sources:
        for row in tables.query(sql.format(only=only), table):
            group = groups.setdefault((row["coordinator"], row["group_id"]), dict(EMPTY))
            group.update(row)
    for group in groups.values():
        group["status"] = name_severity(group["severity"])
    # Where two are equally bad, the one that is farther behind comes first.
    return sorted(groups.values(), key=lambda row: (-(row["lag"] or 0), row["group_id"]))


def count_statuses(groups: list[Row]) -> list[Row]:
    """How many groups are how, the worst first."""
    counts = Counter(group["status"] for group in groups)
    words = [*reversed(ORDER), None]
    return [{"status": word, "groups": counts[word]} for word in words if counts[word]]


def load(asked: Asked) -> Data:
    """One page of the list."""
    groups = list_groups(asked.tables)
    if wanted := asked.params.get("status"):
        groups = [group for group in groups if (group["status"] or "unknown") == wanted]
    sql = _REBALANCES.format(within=asked.span.write_within("valid_from_at"))
    counts = {
        (row["coordinator"], row["group_id"]): row["rebalances"]
        for row in asked.tables.query(sql, "rebalances")
    }
    rows = [
        {**group, "rebalances": counts.get((group["coordinator"], group["group_id"]), 0)}
        for group in groups
    ]
    listed = list_page(
        rows, asked.params, search=("group_id",), sort="severity", is_descending=True
    )
    statuses = count_statuses(list_groups(asked.tables))
    listed["rows"] = add_lines(asked, listed["rows"])
    return {**listed, "statuses": statuses, "status": wanted or ""}


def add_lines(asked: Asked, groups: Sequence[Row]) -> list[Row]:
    """With how the lag of each went in the range."""
    lines = load_lag_lines(asked.tables, asked.span, [group["group_id"] for group in groups])
    return [
        {**group, "line": lines.get((group["coordinator"], group["group_id"]), [])}
        for group in groups
    ]


def draw_lag_lines(groups: Sequence[Row]) -> dict[str, Markup]:
    """By `line0`, `line1`, …: the small lines of these groups."""
    return {
        f"line{number}": draw_line(group["line"], _describe_line(group["line"]))
        for number, group in enumerate(groups)
    }


def _describe_line(line: Sequence[float | None]) -> str:
    known = [value for value in line if value is not None]
    return f"lag at most {max(known):,.0f}, at last {known[-1]:,.0f}" if known else ""


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """The small lines of the listed groups."""
    return draw_lag_lines(data["rows"])


PAGE = Page(
    "groups",
    "Groups",
    load,
    READS,
    draw,
    params=(
        Param("status", choose(*ORDER, "unknown"), "Only groups of this status."),
        *list_params(_LISTED, "the group_id"),
    ),
    answer={
        **describe_list(_SHOWN),
        "statuses": [STATUS_COUNT],
        "status": choose(*ORDER, "unknown", ""),
    },
)
