"""group_status: when the worst partition of a group was at or above a level."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind
from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Tables
from delta_tables.statuses import ORDER, name_severity, write_severity
from zklake.name_patterns import Names
from zklake.settings.alert_rules import GroupStatus

# A lag that no broker could report is no recovery: such a row goes on as the one before it,
# and is a doubt where that one ended before what is read. Other reasons (the topic is gone, nothing
# is committed) leave nothing to complain of.
_SPELLS = f"""
WITH known AS (
  SELECT coordinator, group_id, topic, partition, coalesce(lag_max, lag) AS lag, valid_from_at,
    valid_from_seq,
    CASE WHEN is_open THEN NULL ELSE valid_to_at END AS ended_at,
    coalesce(valid_to_at, TIMESTAMP '2261-01-01T00:00:00Z') AS until_at,
    {write_severity("status")} AS rank
  FROM offset_lag
  WHERE {{overlap}} AND (
    {write_severity("status")} >= {{level}}
    OR (status IS NULL
        AND reason NOT IN ('no_commit', 'no_offset', 'topic_gone', 'other_incarnation'))
  )
), chained AS (
  SELECT *, sum(is_first) OVER (
      PARTITION BY coordinator, group_id, topic, partition ORDER BY valid_from_seq
    ) AS chain
  FROM (
    SELECT *, CASE WHEN valid_from_at <= lag(until_at) OVER (
          PARTITION BY coordinator, group_id, topic, partition ORDER BY valid_from_seq
        ) THEN 0 ELSE 1 END AS is_first
    FROM known
  )
), bad AS (
  SELECT *, worst_yet IS NULL AS is_doubt FROM (
    SELECT *, max(rank) OVER (
        PARTITION BY coordinator, group_id, topic, partition, chain ORDER BY valid_from_seq
      ) AS worst_yet, min(valid_from_at) OVER (
        PARTITION BY coordinator, group_id, topic, partition, chain
      ) AS chained_from_at
    FROM chained
  )
  WHERE worst_yet IS NOT NULL OR chained_from_at < {{start}}
), numbered AS (
  SELECT *, sum(is_new) OVER (
      PARTITION BY coordinator, group_id, is_doubt ORDER BY valid_from_at, valid_from_seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS number
  FROM (
    SELECT *, CASE WHEN NOT is_doubt AND valid_from_at <= max(until_at) OVER (
          PARTITION BY coordinator, group_id, is_doubt ORDER BY valid_from_at, valid_from_seq
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) THEN 0 ELSE 1 END AS is_new
    FROM bad
  )
)
SELECT coordinator, group_id, is_doubt, min(valid_from_at) AS started_at,
  min(valid_from_seq) AS mark,
  CASE WHEN bool_or(ended_at IS NULL) THEN NULL ELSE max(ended_at) END AS ended_at,
  max(rank) AS rank, max(lag) AS lag,
  array_agg(DISTINCT topic || '-' || partition) AS partitions
FROM numbered
GROUP BY coordinator, group_id, is_doubt, number
"""  # noqa: S608


def find(tables: Tables, rule: GroupStatus, span: Span) -> list[Spell]:
    """Per group the times in which one of its partitions was that bad."""
    names = Names(rule.groups, rule.exclude_groups)
    start, level = write_timestamp(span.start), ORDER.index(rule.level)
    sql = _SPELLS.format(overlap=span.write_overlap(), start=start, level=level)
    return [
        Spell(
            IncidentSubject("group", (row["coordinator"], row["group_id"])),
            row["started_at"],
            row["ended_at"],
            row["mark"],
            row["rank"] or 0,
            {"status": name_severity(row["rank"]), "most_lag_of_a_partition": row["lag"]},
            tuple(row["partitions"]),
            row["is_doubt"],
        )
        for row in tables.ask(sql, "offset_lag")
        if names.holds(row["group_id"])
    ]


KIND = RuleKind("group_status", ("offset_lag",), find, "sampled")
