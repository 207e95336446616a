"""What happened of late in a cluster, in sentences, from all tables. Knows no page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from dashboard.absences import format_absence, list_absences
from dashboard.event_folds import fold_events
from dashboard.openapi.shapes import Instant, Shape
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables
from zklake.phrases import (
    format_count,
    format_gap,
    format_operation,
    format_trigger,
)
from zklake.times import write_duration

_SHOWN = 20
RECENT_EVENT: dict[str, Shape] = {
    "at": Instant,
    "text": str,
    "group_id": str | None,
    "topic": str | None,
    "broker_id": int | None,
}


class _Source(NamedTuple):
    """A table of which the newest rows are shown, each in a sentence."""

    table: str
    sql: str
    format: Callable[[Row], str]


def _format_controller(row: Row) -> str:
    if row["controller_id"] is None:
        return "no broker is controller"
    epoch = "" if row["controller_epoch"] is None else f", epoch {row['controller_epoch']}"
    return f"broker {row['controller_id']} became controller{epoch}"


def _format_topic(row: Row) -> str:
    count = format_count(row["partitions"] or 0, "partition")
    if row["is_gone"]:
        return f"topic {row['topic']} deleted ({count})"
    return f"topic {row['topic']} created: {count}"


def _format_leaderless(row: Row) -> str:
    whose = "its leader" if row["partitions"] == 1 else "their leaders"
    return f"{format_count(row['partitions'], 'partition')} lost {whose}"


def _format_rebalance(row: Row) -> str:
    who = (row["trigger_member_id"], row["trigger_topic"], row["trigger_exit"])
    trigger = format_trigger(row["trigger"], *who)
    moved = "" if row["moved"] is None else f", {format_count(row['moved'], 'partition')} moved"
    failed = ", and failed" if row["outcome"] == "failed" else ""
    return f"group {row['group_id']} rebalanced: {trigger}{moved}{failed}"


def _format_status(row: Row) -> str:
    count = format_count(row["partitions"], "partition")
    return f"group {row['group_id']} is {row['status']} on {count} of {row['topic_name']}"


def _format_config(row: Row) -> str:
    value = "" if row["value"] is None else f" = {row['value']}"
    # ZooKeeper names the type in the plural: topics, brokers.
    entity = f"{row['entity_type'].removesuffix('s')} {row['entity_name'] or ''}".strip()
    return f"{entity}: {row['config_key']}{value}"


def _format_operation(row: Row) -> str:
    many = f" ({format_count(row['partitions'], 'partition')})" if row["partitions"] > 1 else ""
    partition = "" if row["partition"] is None or many else f"-{row['partition']}"
    about = "" if row["topic"] is None else f" of {row['topic']}{partition}"
    return f"{format_operation(row['operation'])}{about}{many}"


def _format_gap(row: Row) -> str:
    return f"coverage gap: {format_gap(row['reason'])}"


# When a topic was created, its first row says, which may have ended long ago: all are read, once.
_TOPICS = """
SELECT * FROM (
  SELECT topic, partitions, gone_partitions,
    CASE WHEN {created_came} THEN created_at END AS created_at,
    CASE WHEN {gone_came} THEN gone_at END AS gone_at
  FROM (
    SELECT topic, min(valid_from_at) AS created_at, max(partition_count) AS partitions,
      max(valid_to_at) FILTER (WHERE ended_by IN ('deleted', 'recreated')) AS gone_at,
      max(partition_count) FILTER (WHERE ended_by IN ('deleted', 'recreated')) AS gone_partitions
    FROM topics
    WHERE broker_id IS NULL
    GROUP BY topic, incarnation
  )
)
WHERE created_at IS NOT NULL OR gone_at IS NOT NULL
ORDER BY coalesce(gone_at, created_at) DESC
LIMIT {most}
"""
_SOURCES = (
    _Source(
        "controller",
        """SELECT valid_from_at AS at, controller_id, controller_epoch
           FROM controller WHERE {came} ORDER BY at DESC LIMIT 20""",
        _format_controller,
    ),
    _Source(
        "partition_state",
        """SELECT min(valid_from_at) AS at, count(*) AS partitions
           FROM partition_state WHERE leader = -1 AND {came}
           GROUP BY date_trunc('minute', valid_from_at) ORDER BY at DESC LIMIT 20""",
        _format_leaderless,
    ),
    _Source(
        "rebalances",
        """SELECT valid_from_at AS at, group_id, trigger, trigger_member_id, trigger_topic,
             trigger_exit, moved, outcome
           FROM rebalances WHERE {came} ORDER BY at DESC LIMIT 20""",
        _format_rebalance,
    ),
    _Source(
        "offset_lag",
        """SELECT status_since AS at, group_id, status, topic AS topic_name,
             count(*) AS partitions
           FROM offset_lag WHERE is_open AND status NOT IN ('OK', 'WARN') AND {status_came}
           GROUP BY status_since, group_id, status, topic ORDER BY at DESC LIMIT 20""",
        _format_status,
    ),
    _Source(
        "config_history",
        """SELECT valid_from_at AS at, entity_type, entity_name, config_key, value
           FROM config_history WHERE config_key IS NOT NULL AND {came}
           ORDER BY at DESC LIMIT 20""",
        _format_config,
    ),
    _Source(
        "admin_operations",
        """SELECT min(valid_from_at) AS at, topic, operation, count(*) AS partitions,
             min(partition) AS partition
           FROM admin_operations WHERE {came}
           GROUP BY topic, operation, date_trunc('minute', valid_from_at)
           ORDER BY at DESC LIMIT 20""",
        _format_operation,
    ),
    _Source(
        "log_gaps",
        """SELECT valid_from_at AS at, reason
           FROM log_gaps WHERE {came} ORDER BY at DESC LIMIT 20""",
        _format_gap,
    ),
)


def list_recent(tables: Tables, span: Span, lives: list[Row], now: datetime) -> list[Row]:
    """The newest events of a time range, the newest first; what belongs together is one of them."""
    absences = [row for row in list_absences(tables, span, now) if row["left_at"] >= span.start]
    rows = [*_list_absences(absences), *_list_returns(lives, span.start, span.end)]
    for row in _list_topics(tables, span):
        rows.append({**row, "source": "topics", "text": _format_topic(row)})
    for source in _SOURCES:
        sql = source.sql.format(
            came=span.write_within("valid_from_at"),
            status_came=span.write_within("status_since"),
        )
        found = tables.query(sql, source.table)
        rows += [{**row, "source": source.table, "text": source.format(row)} for row in found]
    rows.sort(key=lambda row: row["at"], reverse=True)
    folded = fold_events(rows, absences)
    return [{name: row.get(name) for name in RECENT_EVENT} for row in folded[:_SHOWN]]


def _list_topics(tables: Tables, span: Span) -> list[Row]:
    """Topics that were created or deleted in the range."""
    came = {name: span.write_within(f"{name}_at") for name in ("created", "gone")}
    sql = _TOPICS.format(created_came=came["created"], gone_came=came["gone"], most=_SHOWN)
    rows: list[Row] = []
    for row in tables.query(sql, "topics"):
        about = {"topic": row["topic"], "partitions": row["partitions"], "is_gone": False}
        gone = {**about, "partitions": row["gone_partitions"], "is_gone": True}
        rows += [{**about, "at": row["created_at"]}] if row["created_at"] else []
        rows += [{**gone, "at": row["gone_at"]}] if row["gone_at"] else []
    return sorted(rows, key=lambda row: row["at"], reverse=True)[:_SHOWN]


def _list_absences(absences: list[Row]) -> Iterator[Row]:
    for row in absences:
        text = format_absence(row)
        yield {"at": row["left_at"], "text": text, "broker_id": row["broker_id"]}


def _list_returns(lives: list[Row], start: datetime, end: datetime) -> Iterator[Row]:
    left: dict[int, datetime] = {}
    for life in lives:
        broker, before = life["broker_id"], left.get(life["broker_id"])
        if start <= life["came_at"] < end:
            away = (life["came_at"] - before).total_seconds() if before else None
            tail = f" again after {write_duration(away)}" if away is not None else ""
            text = f"broker {broker} registered{tail}"
            yield {"at": life["came_at"], "text": text, "broker_id": broker}
        if life["left_at"]:
            left[broker] = life["left_at"]
