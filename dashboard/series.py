"""Lag and rates over time, as lines on an even grid: what the charts in the browser draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from math import ceil, isfinite
from typing import Any

from dashboard.lag_totals import TOTALS_SQL, hold_totals
from dashboard.openapi.shapes import Named, Shape, say
from dashboard.rates import OffsetReading, Readings, measure_rates
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables

_POINTS = 150
_STEPS = (15, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400)
_LINES = 10
# Consumers commit every minute by default: in between, they read all the time.
_COMMIT_SPREAD_S = 90
_LAG: dict[str, Shape] = {
    "x": say(list[int], "the points in time, in seconds since 1970"),
    "lag": [{"label": str, "values": list[int | None]}],
    "lag_seconds": [{"label": str, "values": list[float | None]}],
    "left_out": say(int, "lines beyond the ten highest"),
}
SERIES = Named("LagSeries", _LAG)
FLOW = Named(
    "LagFlow",
    {
        **_LAG,
        "step": say(int, "seconds from one point to the next"),
        "total": {
            "least": say(list[int | None], "least lag over all partitions in each point's time"),
            "most": say(list[int | None], "most lag over all partitions in each point's time"),
        },
        "worst": {
            "least": say(list[float | None], "least time lag of the partition farthest behind"),
            "most": say(list[float | None], "most time lag of the partition farthest behind"),
        },
        "produced": say(list[float | None], "records per second that were written"),
        "consumed": say(list[float | None], "records per second that were committed as read"),
    },
)
_JOINS: dict[str, Callable[[list[Any]], Any]] = {
    "lag": sum,
    "lag_seconds": max,
    "least_lag": sum,
    "least_lag_seconds": max,
}

_SECONDS_SQL = """
SELECT coordinator, group_id, topic, partition, {label} AS label,
  CAST({bucket} AS BIGINT) AS bucket,
  max(coalesce(lag_seconds_max, lag_seconds)) AS lag_seconds,
  min(coalesce(lag_seconds_min, lag_seconds)) AS least_lag_seconds,
  last_value(coalesce(lag_seconds_last, lag_seconds) ORDER BY valid_from_seq) AS last_lag_seconds,
  max(coalesce(valid_to_at, sampled_at)) AS until_at,
  last_value(CASE WHEN points > 1 THEN coalesce(valid_to_at, sampled_at) ELSE valid_from_at END
    ORDER BY valid_from_seq) AS read_at,
  last_value(coalesce(log_end_offset_last, log_end_offset) ORDER BY valid_from_seq) AS log_end,
  last_value(coalesce(committed_offset_last, committed_offset) ORDER BY valid_from_seq)
    AS committed,
  last_value(incarnation ORDER BY valid_from_seq) AS incarnation
FROM offset_lag
WHERE {where} AND {overlap}
GROUP BY coordinator, group_id, topic, partition, bucket
"""
# Closed days, also those that offset_lag has let go of. A bucket without a row is as before it.
_ROLLUPS_SQL = """
SELECT coordinator, group_id, topic, partition, {label} AS label,
  CAST({bucket} AS BIGINT) AS bucket,
  max(max_lag) AS lag, max(max_lag_seconds) AS lag_seconds,
  min(min_lag) AS least_lag, min(min_lag_seconds) AS least_lag_seconds,
  last_value(last_lag ORDER BY bucket_at) AS last_lag,
  last_value(last_lag_seconds ORDER BY bucket_at) AS last_lag_seconds,
  max(CAST(day AS TIMESTAMP) + INTERVAL '1 day') AS until_at
FROM lag_rollups
WHERE {where} AND width_s = {width} AND {within}
GROUP BY coordinator, group_id, topic, partition, bucket
"""


def choose_step(span: Span) -> int:
    """Seconds from one point to the next; for years, so many whole days."""
    days = ceil(span.seconds / _POINTS / _STEPS[-1]) * _STEPS[-1]
    return next((step for step in _STEPS if span.seconds / step <= _POINTS), days)


def load_lag(tables: Tables, span: Span, where: str, label: str) -> dict[str, Any]:
    """Lag and lag in seconds, one line per label (SQL): the ten highest, and how many more."""
    flow = load_flow(tables, span, where, label)
    return {name: flow[name] for name in _LAG}


def load_flow(tables: Tables, span: Span, where: str, label: str) -> dict[str, Any]:
    """The same, with what all lines come to, and what was written and read per second."""
    step = choose_step(span)
    first, last = int(span.start.timestamp()) // step, int(span.end.timestamp()) // step
    grid = range(first, last + 1)
    key = ("flow", where, label, grid, step, span.write_overlap())
    names = ("offset_lag", "lag_rollups")
    return tables.derive(key, names, lambda: _load(tables, span, where, label, grid, step=step))


def _load(
    tables: Tables, span: Span, where: str, label: str, grid: range, *, step: int
) -> dict[str, Any]:
    first = grid.start

    def ask(sql: str, column: str, table: str) -> list[Row]:
        bucket = f"greatest({first}, floor(date_part('epoch', {column}) / {step}))"
        text = sql.format(
            bucket=bucket,
            label=label,
            # The line without a name is that of all together.
            labels=f"make_array({label}, NULL)",
            where=where,
            step=step,
            overlap=span.write_overlap(),
            within=span.write_within("bucket_at"),
            width=3600 if step >= 3600 else 300,
        )
        return tables.query(text, table)

    rolled = ask(_ROLLUPS_SQL, "bucket_at", "lag_rollups") if step >= 300 else []
    seen = ask(_SECONDS_SQL, "valid_from_at", "offset_lag")
    totals = hold_totals(ask(TOTALS_SQL, "at", "offset_lag"), grid, step)
    parts, rolled_parts, nothing = _part(seen + rolled), _part(rolled), [None] * len(grid)
    seconds = _add_up(parts, "lag_seconds", grid, step)
    worst = {
        name: _add_up(parts, column, grid, step, together=True).get(None, nothing)
        for name, column in (("least", "least_lag_seconds"), ("most", "lag_seconds"))
    }
    # Sums of rolled up days are of what each part had at most, and at least.
    most = _add_up(rolled_parts, "lag", grid, step)
    most |= _add_up(rolled_parts, "lag", grid, step, together=True)
    least = _add_up(rolled_parts, "least_lag", grid, step, together=True).get(None, nothing)
    for name, band in totals.items():
        most[name] = _prefer(band.most, most.get(name, nothing))
    ranked = sorted(map(str, seconds), key=lambda name: (-_find_most(most.get(name, [])), name))
    shown = ranked[:_LINES]
    return {
        "x": [bucket * step for bucket in grid] if seconds else [],
        "lag": [{"label": name, "values": most.get(name, nothing)} for name in shown],
        "lag_seconds": [{"label": name, "values": seconds[name]} for name in shown],
        "left_out": max(0, len(ranked) - _LINES),
        "step": step,
        "total": {
            "least": _prefer(totals[None].least, least) if None in totals else least,
            "most": most.get(None, nothing),
        },
        "worst": worst,
        "produced": _measure(seen, "log_end", grid, step),
        "consumed": _measure(seen, "committed", grid, step),
    }


def _prefer(values: list[Any], others: list[Any]) -> list[Any]:
    return [other if one is None else one for one, other in zip(values, others, strict=True)]


def _part(rows: list[Row]) -> list[list[Row]]:
    """The rows of each partition of a group."""
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        parts[(row["coordinator"], row["group_id"], row["topic"], row["partition"])].append(row)
    return list(parts.values())


def _measure(rows: list[Row], column: str, grid: range, step: int) -> list[float | None]:
    """Records per second; what several groups read was written once."""
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    reader = ("coordinator", "group_id") if column == "committed" else ()
    for row in sorted(rows, key=lambda row: row["bucket"]):
        if row[column] is not None and row["read_at"] is not None:
            names = (*reader, "topic", "partition", "incarnation")
            parts[tuple(row[name] for name in names)].append(row)
    spread = float(max(step, _COMMIT_SPREAD_S) if column == "committed" else step)
    rates = measure_rates((_read(part, column) for part in parts.values()), grid, step, spread)
    return [one if one is None or isfinite(one) else None for one in rates]


def _read(rows: list[Row], column: str) -> Readings:
    readings = sorted(OffsetReading(row["read_at"].timestamp(), row[column]) for row in rows)
    until = max((row["until_at"] or row["read_at"]).timestamp() for row in rows)
    return Readings(readings, until)


def _add_up(
    parts: Iterable[list[Row]], column: str, grid: range, step: int, *, together: bool = False
) -> dict[str | None, list[Any]]:
    """One line per label, or one for all: the sum of the lag, or the worst of the seconds."""
    lines: dict[str | None, list[Any]] = {}
    for rows in parts:
        values = _hold(rows, column, grid, step)
        label = None if together else rows[0]["label"]
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
    last = f"last_{column.removeprefix('least_')}"
    for bucket in grid:
        if bucket in said:
            held = said[bucket]
            values.append(held[column])
        elif held is not None and _is_until(held["until_at"], bucket * step):
            values.append(held[last])
        else:
            values.append(None)
    return values


def _is_until(until: datetime | None, second: int) -> bool:
    return until is not None and until.timestamp() >= second


def _find_most(values: list[Any]) -> float:
    return max((value for value in values if value is not None), default=-1)
