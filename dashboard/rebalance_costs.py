"""The rebalances of one group, each with what it cost, and the times nobody read. Knows no page."""

from __future__ import annotations

from datetime import datetime, timedelta

from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Shape, say
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables
from delta_tables.views import VIEWS

_REBALANCES = """
SELECT valid_from_seq, valid_from_at, valid_to_at, trigger, trigger_member_id, trigger_topic,
  trigger_exit, generation, members_before, members_after, attempts, conflicts, partitions, moved,
  reacquired, left_unowned, unowned_ms, max_unowned_ms, duration_ms, outcome
FROM rebalances
WHERE {where} AND {overlap}
ORDER BY valid_from_seq DESC
LIMIT 200
"""
# The view over what it needs for these: by itself it would read the group's whole history.
_COSTS = """
WITH rebalances AS (SELECT * FROM rebalances WHERE {where} AND {overlap}),
consumption_pauses AS (SELECT * FROM consumption_pauses WHERE {where} AND {overlap})
SELECT DISTINCT began_at, ended_at, {names}
FROM ({view})
"""
_PAUSES = """
SELECT topic, partition, held, owner_member_id, broker_id, valid_from_at, valid_to_at, is_open,
  held_ms, least_ms, most_ms, usual_ms, records, records_waiting, reason, ended_by
FROM consumption_pauses
WHERE {where} AND {overlap}
ORDER BY is_open DESC, valid_from_at DESC, topic, partition
LIMIT 200
"""
_VIEW = next(view.sql for view in VIEWS if view.name == "rebalance_cost")
_COST: dict[str, Shape] = {
    "paused_partitions": say(int | None, "partitions on which records had to wait"),
    "least_ms": say(int | None, "for so long at least nobody read, summed over them"),
    "max_least_ms": say(int | None, "the same of the one that waited longest"),
    "crashed_ms": say(int | None, "of least_ms: with an owner that had crashed"),
    "max_most_ms": say(int | None, "for so long at most nobody read any one of them"),
    "records": say(int | None, "records that came in least_ms"),
}
_UNKNOWN: Row = dict.fromkeys(_COST)
REBALANCE: dict[str, Shape] = {**describe_rows(_REBALANCES), **_COST}
PAUSE: dict[str, Shape] = describe_rows(_PAUSES)


def load_rebalances(tables: Tables, span: Span, where: str, now: datetime) -> list[Row]:
    """The newest of a range, the newest first."""
    sql = _REBALANCES.format(where=where, overlap=span.write_overlap())
    rows = tables.query(sql, "rebalances")
    costs = _load_costs(tables, rows, where, now) if rows else {}
    return [row | costs.get((row["valid_from_at"], row["valid_to_at"]), _UNKNOWN) for row in rows]


def _load_costs(
    tables: Tables, rows: list[Row], where: str, now: datetime
) -> dict[tuple[datetime, datetime | None], Row]:
    """By begin and end: those of one group that share both have cost the same."""
    first = min(row["valid_from_at"] for row in rows) - timedelta(seconds=1)
    # Whole minutes: the same question for a while, so that its answer may be kept.
    last = max(row["valid_to_at"] or now.replace(second=0, microsecond=0) for row in rows)
    overlap = Span(first, last + timedelta(minutes=1)).write_overlap()
    sql = _COSTS.format(where=where, overlap=overlap, view=_VIEW, names=", ".join(_COST))
    found = tables.query(sql, "rebalances", "consumption_pauses")
    return {
        (row["began_at"], row["ended_at"]): {name: row[name] for name in _UNKNOWN} for row in found
    }


def load_pauses(tables: Tables, span: Span, where: str) -> list[Row]:
    """The pauses of a range: those that last, then the newest first."""
    sql = _PAUSES.format(where=where, overlap=span.write_overlap())
    return tables.query(sql, "consumption_pauses")
