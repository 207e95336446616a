"""Overview: is the cluster well, are its groups, and what has just happened?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dashboard.lives import list_lives
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Maybe
from dashboard.page import Asked, Data, Page
from dashboard.pages.groups import GROUP, READS, STATUS_COUNT, count_statuses, list_groups
from dashboard.series import SERIES, load_lag
from delta_tables.live.tables import Row
from delta_tables.reading import quote
from zklake.times import write_duration

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
)
_WORST = 8
_RECENT = 20

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
ORDER BY max(lag) DESC NULLS LAST, group_id
LIMIT 6
"""

# What happened, by table: a time, a sentence, and the group or topic it is about.
_HAPPENINGS = (
    (
        "controller",
        """SELECT valid_from_at AS at, coalesce('broker ' || controller_id || ' became controller'
             || coalesce(', epoch ' || controller_epoch, ''), 'nobody is controller') AS text
           FROM controller WHERE {came} ORDER BY at DESC LIMIT 20""",
    ),
    (
        "partition_state",
        """SELECT min(valid_from_at) AS at, count(*) || ' partitions lost their leader' AS text
           FROM partition_state WHERE leader = -1 AND {came}
           GROUP BY date_trunc('minute', valid_from_at) ORDER BY at DESC LIMIT 20""",
    ),
    (
        "rebalances",
        """SELECT valid_from_at AS at, group_id, 'group ' || group_id || ' rebalanced: ' || trigger
             || coalesce(', ' || moved || ' moved', '')
             || CASE outcome WHEN 'failed' THEN ', and failed' ELSE '' END AS text
           FROM rebalances WHERE {came} ORDER BY at DESC LIMIT 20""",
    ),
    (
        "offset_lag",
        """SELECT status_since AS at, group_id, 'group ' || group_id || ' is ' || status || ' on '
             || count(*) || CASE count(*) WHEN 1 THEN ' partition of ' ELSE ' partitions of ' END
             || topic AS text
           FROM offset_lag WHERE is_open AND status NOT IN ('OK', 'WARN') AND {status_came}
           GROUP BY status_since, group_id, status, topic ORDER BY at DESC LIMIT 20""",
    ),
    (
        "config_history",
        """SELECT valid_from_at AS at, entity_type || ' ' || entity_name || ': ' || config_key
             || coalesce(' = ' || value, '') AS text
           FROM config_history WHERE config_key IS NOT NULL AND {came}
           ORDER BY at DESC LIMIT 20""",
    ),
    (
        "admin_operations",
        """SELECT valid_from_at AS at, topic, operation || coalesce(' of ' || topic, '')
             || coalesce('-' || partition, '') AS text
           FROM admin_operations WHERE {came} ORDER BY at DESC LIMIT 20""",
    ),
    (
        "log_gaps",
        """SELECT valid_from_at AS at, 'the watcher could not see: '
             || coalesce(reason, 'nobody knows why') AS text
           FROM log_gaps WHERE {came} ORDER BY at DESC LIMIT 20""",
    ),
)


def load(asked: Asked) -> Data:
    """The state of everything, the worst groups, and the newest happenings."""
    tables = asked.tables
    groups = list_groups(tables)
    lives = list_lives(tables)
    return {
        "brokers": {
            "up": sorted(life["broker_id"] for life in lives if life["left_at"] is None),
            "down": _find_missing(lives),
        },
        "controller": next(iter(tables.query(_CONTROLLER, "controller")), None),
        "partitions": next(iter(tables.query(_PARTITIONS, "partition_health")), None),
        "groups": {"total": len(groups), "statuses": count_statuses(groups)},
        "worst": _find_worst(groups),
        "lag": _load_lag(asked),
        "gaps": tables.query(_GAPS, "log_gaps"),
        "recent": _list_recent(asked, lives),
    }


def _find_worst(groups: list[Row]) -> list[Row]:
    behind = [group for group in groups if group["lag"] or group["severity"]]
    behind.sort(key=lambda group: (-(group["severity"] or 0), -(group["lag"] or 0)))
    return behind[:_WORST]


def _find_missing(lives: list[Row]) -> list[int]:
    up = {life["broker_id"] for life in lives if life["left_at"] is None}
    return sorted({life["broker_id"] for life in lives} - up)


def _load_lag(asked: Asked) -> Data:
    most = asked.tables.query(_MOST.format(overlap=asked.span.write_overlap()), "offset_lag")
    names = ", ".join(quote(row["group_id"]) for row in most) or "''"
    return load_lag(
        asked.tables, asked.span, f"group_id IN ({names})", lambda row: str(row["group_id"])
    )


def _list_recent(asked: Asked, lives: list[Row]) -> list[Row]:
    span = asked.span
    rows = list(_tell_lives(lives, span.start, span.end))
    for table, sql in _HAPPENINGS:
        text = sql.format(
            came=span.write_within("valid_from_at"), status_came=span.write_within("status_since")
        )
        rows += asked.tables.query(text, table)
    rows.sort(key=lambda row: row["at"], reverse=True)
    return [{"group_id": None, "topic": None, **row} for row in rows[:_RECENT]]


def _tell_lives(lives: list[Row], start: datetime, end: datetime) -> Iterator[Row]:
    left: dict[int, datetime] = {}
    for life in lives:
        broker, before = life["broker_id"], left.get(life["broker_id"])
        if start <= life["came_at"] < end:
            away = (life["came_at"] - before).total_seconds() if before else None
            tail = f" after {write_duration(away)}" if away is not None else ""
            yield {"at": life["came_at"], "text": f"broker {broker} registered{tail}"}
        if life["left_at"] and start <= life["left_at"] < end:
            yield {"at": life["left_at"], "text": f"broker {broker} left ({life['ended_by']})"}
        if life["left_at"]:
            left[broker] = life["left_at"]


PAGE = Page(
    "overview",
    "Overview",
    load,
    _READS,
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
        "worst": [GROUP],
        "lag": SERIES,
        "gaps": [describe_rows(_GAPS)],
        "recent": [{"at": Instant, "text": str, "group_id": str | None, "topic": str | None}],
    },
)
