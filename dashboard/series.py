"""Lag over time, as lines on an even grid: what the charts in the browser draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from math import ceil
from typing import Any

from dashboard.openapi.shapes import Named, say
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables

_POINTS = 150
# A minute is as fine as the table is; below an hour its steps are shown.
_STEPS = (15, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400)
_LINES = 10
SERIES = Named(
    "LagSeries",
    {
        "x": say(list[int], "the points in time, in seconds since 1970"),
        "lag": [{"label": str, "values": list[int | None]}],
        "lag_seconds": [{"label": str, "values": list[float | None]}],
        "left_out": say(int, "lines beyond the ten highest"),
    },
)
_JOINS: dict[str, Callable[[list[Any]], Any]] = {"lag": sum, "lag_seconds": max}

# A row says what held from its start on: a point shows the most of its time, and what was said last
# holds until the row's end.
_POINTS_SQL = """
SELECT coordinator, group_id, topic, partition, CAST({bucket} AS BIGINT) AS bucket,
  max(lag) AS lag, max(lag_seconds) AS lag_seconds,
  last_value(lag ORDER BY valid_from_seq) AS last_lag,
  last_value(lag_seconds ORDER BY valid_from_seq) AS last_lag_seconds,
  max(coalesce(valid_to_at, sampled_at)) AS until_at
FROM offset_lag
WHERE {where} AND {overlap}
GROUP BY coordinator, group_id, topic, partition, bucket
"""
# Closed days, also those that offset_lag has let go of. A bucket without a row is as before it.
_ROLLUPS_SQL = """
SELECT coordinator, group_id, topic, partition, CAST({bucket} AS BIGINT) AS bucket,
  max(max_lag) AS lag, max(max_lag_seconds) AS lag_seconds,
  last_value(last_lag ORDER BY bucket_at) AS last_lag, CAST(NULL AS DOUBLE) AS last_lag_seconds,
  max(CAST(day AS TIMESTAMP) + INTERVAL '1 day') AS until_at
FROM lag_rollups
WHERE {where} AND width_s = {width} AND {within}
GROUP BY coordinator, group_id, topic, partition, bucket
"""


def choose_step(span: Span) -> int:
    """Seconds from one point to the next; for years, so many whole days."""
    days = ceil(span.seconds / _POINTS / _STEPS[-1]) * _STEPS[-1]
    return next((step for step in _STEPS if span.seconds / step <= _POINTS), days)


def load_lag(tables: Tables, span: Span, where: str, name: Callable[[Row], str]) -> dict[str, Any]:
    """Lag and lag in seconds, one line per name: the ten highest, and how many are left out."""
    step = choose_step(span)
    first, last = int(span.start.timestamp()) // step, int(span.end.timestamp()) // step
    rows = _read_points(tables, span, where, step, first)
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        parts[(row["coordinator"], row["group_id"], row["topic"], row["partition"])].append(row)
    lines = {
        column: _add_up(parts.values(), column, name, range(first, last + 1), step)
        for column in ("lag", "lag_seconds")
    }
    ranked = sorted(lines["lag"], key=lambda label: (-_find_most(lines["lag"][label]), label))
    return {
        "x": [bucket * step for bucket in range(first, last + 1)] if rows else [],
        "lag": [{"label": label, "values": lines["lag"][label]} for label in ranked[:_LINES]],
        "lag_seconds": [
            {"label": label, "values": lines["lag_seconds"][label]} for label in ranked[:_LINES]
        ],
        "left_out": max(0, len(ranked) - _LINES),
    }


def _read_points(tables: Tables, span: Span, where: str, step: int, first: int) -> list[Row]:
    def write(sql: str, column: str) -> str:
        bucket = f"greatest({first}, floor(date_part('epoch', {column}) / {step}))"
        return sql.format(
            bucket=bucket,
            where=where,
            overlap=span.write_overlap(),
            within=span.write_within("bucket_at"),
            width=3600 if step >= 3600 else 300,
        )

    rows = tables.query(write(_POINTS_SQL, "valid_from_at"), "offset_lag")
    if step >= 300:
        rows = rows + tables.query(write(_ROLLUPS_SQL, "bucket_at"), "lag_rollups")
    return rows


def _add_up(
    parts: Iterable[list[Row]],
    column: str,
    name: Callable[[Row], str],
    grid: range,
    step: int,
) -> dict[str, list[Any]]:
    """One line per name: the sum of its parts' lag, or the worst of their seconds."""
    lines: dict[str, list[Any]] = {}
    for rows in parts:
        values = _hold(rows, column, grid, step)
        label = name(rows[0])
        former = lines.get(label)
        pairs = zip(former, values, strict=True) if former is not None else ()
        lines[label] = values if former is None else [_join(column, pair) for pair in pairs]
    return lines


def _join(column: str, pair: tuple[Any, Any]) -> Any:
    known = [one for one in pair if one is not None]
    return _JOINS[column](known) if known else None


def _hold(rows: list[Row], column: str, grid: range, step: int) -> list[Any]:
    """The value of each point of the grid: the last one said, until its row ends."""
    said = {row["bucket"]: row for row in rows}
    values: list[Any] = []
    held: Row | None = None
    for bucket in grid:
        if bucket in said:
            held = said[bucket]
            values.append(held[column])
        elif held is not None and _is_until(held["until_at"], bucket * step):
            values.append(held[f"last_{column}"])
        else:
            values.append(None)
    return values


def _is_until(until: datetime | None, second: int) -> bool:
    return until is not None and until.timestamp() >= second


def _find_most(values: list[Any]) -> float:
    return max((value for value in values if value is not None), default=-1)
