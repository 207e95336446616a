"""What the lag of several partitions comes to, at each time and at most. Knows no page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from dashboard.openapi.shapes import Instant, Named, say
from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Row, Tables
from delta_tables.views import VIEWS

PEAK = Named(
    "LagPeak",
    {
        "lag": say(int | None, "the most lag over all partitions at one time; null: not known"),
        "at": say(Instant | None, "when it was first that much"),
    },
)
# What the lines of one name come to at each time: rows add their lag when they begin and take it
# back when they end. A point shows the least and the most of its time; what was last holds until it
# ends. Of an open row nothing is known after the last round that vouched for it.
TOTALS_SQL = """
WITH named AS (
  SELECT unnest({labels}) AS label, valid_from_at, coalesce(lag_min, lag) AS least,
    coalesce(lag_max, lag) AS most,
    coalesce(valid_to_at, greatest(valid_from_at, sampled_at) + INTERVAL '1 microsecond') AS to_at
  FROM offset_lag
  WHERE {where} AND {overlap} AND lag IS NOT NULL
), moments AS (
  SELECT label, at, sum(least) AS least, sum(most) AS most, sum(known) AS known
  FROM (
    SELECT label, valid_from_at AS at, least, most, 1 AS known FROM named
    UNION ALL
    SELECT label, to_at, -least, -most, -1 FROM named
  )
  GROUP BY label, at
), totals AS (
  SELECT label, at,
    CASE WHEN sum(known) OVER so_far > 0 THEN sum(least) OVER so_far END AS least,
    CASE WHEN sum(known) OVER so_far > 0 THEN sum(most) OVER so_far END AS most
  FROM moments
  WINDOW so_far AS (
    PARTITION BY label ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
)
SELECT label, CAST(floor(date_part('epoch', at) / {step}) AS BIGINT) AS bucket, min(at) AS first_at,
  min(least) AS least, max(most) AS most, last_value(least ORDER BY at) AS last_least,
  last_value(most ORDER BY at) AS last_most
FROM totals
GROUP BY label, bucket
"""
# The view over what it needs for the range: by itself it would read the group's whole history.
_PEAK_SQL = """
WITH offset_lag AS (SELECT * FROM offset_lag WHERE {where} AND {overlap})
SELECT total_lag AS lag, at
FROM ({view})
WHERE at < {end} AND (until_at IS NULL OR until_at > {start})
ORDER BY total_lag DESC, at
LIMIT 1
"""
_HISTORY = next(view.sql for view in VIEWS if view.name == "group_lag_history")


def load_peak(tables: Tables, span: Span, where: str) -> Row:
    """The most lag of one group in the range, as the view group_lag_history has it."""
    start, end = span.start, span.end
    if span.last:
        # A range that moves with the clock asks the same for a minute: its answer may be kept.
        start, end = (at.replace(second=0, microsecond=0) for at in (start, end))
        end += timedelta(minutes=1)
    sql = _PEAK_SQL.format(
        where=where,
        overlap=span.write_overlap(),
        view=_HISTORY,
        start=write_timestamp(start),
        end=write_timestamp(end),
    )
    return next(iter(tables.query(sql, "offset_lag")), {"lag": None, "at": None})


class Band(NamedTuple):
    """The least and the most of each point of the grid; None where nothing is known."""

    least: list[Any]
    most: list[Any]


def hold_totals(rows: list[Row], grid: range, step: int) -> dict[str | None, Band]:
    """By label, each point of the grid: of what began in it, or held until then."""
    by_label: dict[str | None, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        by_label[row["label"]][row["bucket"]] = row
    return {
        label: Band(
            _hold_total(said, "least", min, grid, step), _hold_total(said, "most", max, grid, step)
        )
        for label, said in by_label.items()
    }


def _hold_total(
    said: dict[int, Row],
    name: str,
    join: Callable[[list[Any]], Any],
    grid: range,
    step: int,
) -> list[Any]:
    before = [bucket for bucket in said if bucket < grid.start]
    held = said[max(before)][f"last_{name}"] if before else None
    values = []
    for bucket in grid:
        row = said.get(bucket)
        if row is None:
            values.append(held)
            continue
        is_held = held is not None and row["first_at"].timestamp() > bucket * step
        known = [one for one in (row[name], held if is_held else None) if one is not None]
        values.append(join(known) if known else None)
        held = row[f"last_{name}"]
    return values
