"""The rebalances of one group, each with the lag that it added. Knows no page."""

from __future__ import annotations

from datetime import datetime, timedelta

from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Shape, say
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables
from delta_tables.views import VIEWS

_REBALANCES = """
SELECT valid_from_at, valid_to_at, trigger, trigger_member_id, trigger_topic, generation,
  members_before, members_after, attempts, conflicts, partitions, moved, reacquired, left_unowned,
  unowned_ms, max_unowned_ms, duration_ms, outcome
FROM rebalances
WHERE {where} AND {overlap}
ORDER BY valid_from_seq DESC
LIMIT 200
"""
# The view over what it needs for these: by itself it would read the group's whole history.
_COSTS = """
WITH rebalances AS (SELECT * FROM rebalances WHERE {where} AND {overlap}),
offset_lag AS (SELECT * FROM offset_lag WHERE {where} AND {overlap})
SELECT DISTINCT began_at, ended_at, lag_before, lag_after, lag_added
FROM ({view})
"""
_VIEW = next(view.sql for view in VIEWS if view.name == "rebalance_cost")
# The view looks a minute beyond the end.
_BEYOND = timedelta(minutes=2)
_UNKNOWN = {"lag_before": None, "lag_after": None, "lag_added": None}
REBALANCE: dict[str, Shape] = {
    **describe_rows(_REBALANCES),
    "lag_before": say(int | None, "the group's lag when it began; null: not known"),
    "lag_after": say(int | None, "the group's lag a minute after its end; null: not known"),
    "lag_added": say(int | None, "the difference, if both are known"),
}


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
    overlap = Span(first, last + _BEYOND).write_overlap()
    sql = _COSTS.format(where=where, overlap=overlap, view=_VIEW)
    found = tables.query(sql, "rebalances", "offset_lag")
    return {
        (row["began_at"], row["ended_at"]): {name: row[name] for name in _UNKNOWN} for row in found
    }
