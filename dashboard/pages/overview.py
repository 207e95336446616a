"""Overview: the health of the cluster and its groups, and recent events."""

from __future__ import annotations

from collections.abc import Collection

from markupsafe import Markup

from dashboard.lives import list_lives
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Maybe
from dashboard.page import Asked, Data, Page
from dashboard.pages.groups import (
    GROUP_WITH_LINE,
    READS,
    STATUS_COUNT,
    add_lines,
    count_statuses,
    draw_lag_lines,
    list_groups,
)
from dashboard.recent_events import RECENT_EVENT, list_recent
from dashboard.series import SERIES, load_lag
from delta_tables.live.tables import Row
from delta_tables.reading import quote

_READS = (
    *READS,
    "broker_membership",
    "controller",
    "partition_state",
    "topics",
    "admin_operations",
    "config_history",
    "log_gaps",
    "log_ends",
    "consumption_pauses",
)
_WORST = 8
_SHORT_S = 3600

_PARTITIONS = """
SELECT count(*) AS total, count(*) FILTER (WHERE is_offline AND NOT is_under_deletion) AS offline,
  count(*) FILTER (WHERE is_under_replicated) AS under_replicated,
  count(*) FILTER (WHERE NOT is_preferred_leader) AS not_preferred,
  count(DISTINCT topic) AS topics
FROM partition_health
"""
_CONTROLLER = """
SELECT controller_id, controller_epoch, valid_from_at AS since
FROM controller
WHERE is_open
"""
_GAPS = """
SELECT reason, valid_from_at AS since
FROM log_gaps
WHERE is_open
ORDER BY valid_from_at
"""
# Those whose lag was worth a look at some time of the range.
_MOST = """
SELECT group_id
FROM offset_lag
WHERE {overlap}
GROUP BY group_id
ORDER BY max(coalesce(lag_max, lag)) DESC NULLS LAST, group_id
LIMIT 6
"""


def load(asked: Asked) -> Data:
    """The state of everything, the worst groups, and the newest happenings."""
    tables = asked.tables
    groups = list_groups(tables)
    lives = list_lives(tables)
    worst, most = _find_worst(groups), _find_most(asked)
    seen = _narrow(asked, {*most, *(group["group_id"] for group in worst)})
    return {
        "brokers": {
            "up": sorted(life["broker_id"] for life in lives if life["left_at"] is None),
            "down": _find_missing(lives),
        },
        "controller": next(iter(tables.query(_CONTROLLER, "controller")), None),
        "partitions": next(iter(tables.query(_PARTITIONS, "partition_health")), None),
        "groups": {"total": len(groups), "statuses": count_statuses(groups)},
        "worst": add_lines(seen, worst),
        "lag": _load_lag(seen, most),
        "gaps": tables.query(_GAPS, "log_gaps"),
        "recent": list_recent(tables, asked.span, lives, asked.now),
    }


def _find_worst(groups: list[Row]) -> list[Row]:
    behind = [group for group in groups if group["lag"] or group["severity"]]
    behind.sort(key=lambda group: (-(group["severity"] or 0), -(group["lag"] or 0)))
    return behind[:_WORST]


def _find_missing(lives: list[Row]) -> list[int]:
    up = {life["broker_id"] for life in lives if life["left_at"] is None}
    return sorted({life["broker_id"] for life in lives} - up)


def _find_most(asked: Asked) -> list[str]:
    rows = asked.tables.query(_MOST.format(overlap=asked.span.write_overlap()), "offset_lag")
    return [row["group_id"] for row in rows]


def _narrow(asked: Asked, groups: Collection[str]) -> Asked:
    """With the lag of these groups alone; of a long range that is too much to keep."""
    if asked.span.seconds > _SHORT_S:
        return asked
    only = f"group_id IN ({_list(groups)}) AND {asked.span.write_overlap()}"
    return asked._replace(tables=asked.tables.narrow({"offset_lag": only}))


def _load_lag(asked: Asked, groups: Collection[str]) -> Data:
    return load_lag(asked.tables, asked.span, f"group_id IN ({_list(groups)})", "group_id")


def _list(groups: Collection[str]) -> str:
    return ", ".join(quote(group) for group in sorted(groups)) or "''"


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """The small lines of the groups that need attention."""
    return draw_lag_lines(data["worst"])


PAGE = Page(
    "overview",
    "Overview",
    load,
    _READS,
    draw,
    answer={
        "brokers": {"up": list[int], "down": list[int]},
        "controller": Maybe(describe_rows(_CONTROLLER)),
        "partitions": Maybe(
            describe_rows(
                _PARTITIONS,
                total=int,
                offline=int,
                under_replicated=int,
                not_preferred=int,
                topics=int,
            )
        ),
        "groups": {"total": int, "statuses": [STATUS_COUNT]},
        "worst": [GROUP_WITH_LINE],
        "lag": SERIES,
        "gaps": [describe_rows(_GAPS)],
        "recent": [RECENT_EVENT],
    },
)
