"""How often groups rebalanced: by time, by trigger, by group, by group and hour. Knows no page.

The lake counts: a storm has more rows than a page should carry.
"""

from __future__ import annotations

from datetime import UTC, datetime

from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables

# So many of one group within so long are a storm.
_STORM, _STORM_S = 5, 600
SHOWN, HEATED = 100, 20

_TRIGGERS = """
SELECT trigger, count(*) AS rebalances, count(*) FILTER (WHERE outcome = 'failed') AS failed,
  coalesce(sum(unowned_ms), 0) AS unowned_ms
FROM rebalances
WHERE {within}
GROUP BY trigger
ORDER BY rebalances DESC, trigger
"""
_BY_TIME = """
SELECT CAST(floor(date_part('epoch', valid_from_at) / {width}) AS BIGINT) AS bucket,
  count(*) AS rebalances
FROM rebalances
WHERE {within}
GROUP BY bucket
ORDER BY bucket
"""
_GROUPS = """
WITH episodes AS (
  SELECT *, count(*) OVER (
    PARTITION BY coordinator, group_id ORDER BY valid_from_at
    RANGE BETWEEN INTERVAL '{storm_s} seconds' PRECEDING AND CURRENT ROW
  ) AS near
  FROM rebalances
  WHERE {within}
), by_trigger AS (
  SELECT coordinator, group_id, trigger, count(*) AS rebalances,
    count(*) FILTER (WHERE outcome = 'failed') AS failed, sum(moved) AS moved,
    sum(reacquired) AS reacquired, sum(unowned_ms) AS unowned_ms,
    max(duration_ms) AS longest_ms, max(near) AS near
  FROM episodes
  GROUP BY coordinator, group_id, trigger
), by_group AS (
  SELECT coordinator, group_id, CAST(sum(rebalances) AS BIGINT) AS rebalances,
    CAST(sum(failed) AS BIGINT) AS failed, sum(moved) AS moved,
    sum(reacquired) AS reacquired, sum(unowned_ms) AS unowned_ms, max(longest_ms) AS longest_ms,
    first_value(trigger ORDER BY rebalances DESC, trigger) AS trigger,
    CASE WHEN max(near) >= {storm} THEN max(near) ELSE 0 END AS storm
  FROM by_trigger
  GROUP BY coordinator, group_id
)
SELECT *, count(*) OVER () AS all_groups, count(*) FILTER (WHERE storm > 0) OVER () AS storms
FROM by_group
ORDER BY rebalances DESC, group_id, coordinator
LIMIT {shown}
"""
_FREQUENCY = """
WITH most AS (
  SELECT coordinator, group_id
  FROM rebalances
  WHERE {within}
  GROUP BY coordinator, group_id
  ORDER BY count(*) DESC, group_id, coordinator
  LIMIT {heated}
)
SELECT most.coordinator, most.group_id,
  CAST(floor(date_part('epoch', valid_from_at) / {width}) AS BIGINT) AS bucket,
  count(*) AS rebalances, count(*) FILTER (WHERE outcome = 'failed') AS failed
FROM most
JOIN rebalances
  ON rebalances.coordinator = most.coordinator AND rebalances.group_id = most.group_id
WHERE {within}
GROUP BY most.coordinator, most.group_id, bucket
ORDER BY bucket, most.group_id, most.coordinator
"""


class Counts:
    """Of one range."""

    def __init__(self, tables: Tables, span: Span) -> None:
        self._tables, self._within = tables, span.write_within("valid_from_at")

    def count_by_trigger(self) -> list[Row]:
        """The most frequent first; with failures and unowned time."""
        return self._ask(_TRIGGERS)

    def count_by_time(self, width: int) -> list[Row]:
        """From each whole multiple of so many seconds on."""
        return [_place(row, width) for row in self._ask(_BY_TIME, width)]

    def rank_groups(self) -> list[Row]:
        """The groups that rebalanced most; each row says how many groups and storms there are."""
        return self._ask(_GROUPS)

    def count_frequency(self, width: int) -> list[Row]:
        """Of the first of these groups, from each whole multiple of so many seconds on."""
        return [_place(row, width) for row in self._ask(_FREQUENCY, width)]

    def _ask(self, sql: str, width: int = 0) -> list[Row]:
        words = {"storm": _STORM, "storm_s": _STORM_S, "shown": SHOWN, "heated": HEATED}
        text = sql.format(within=self._within, width=width, **words)
        return self._tables.query(text, "rebalances")


def _place(row: Row, width: int) -> Row:
    at = datetime.fromtimestamp(row["bucket"] * width, UTC)
    return {"at": at, **{name: value for name, value in row.items() if name != "bucket"}}
