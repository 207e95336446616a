"""time_lag: when a group was so many seconds behind on one of its partitions."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind, write_minute
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.name_patterns import Names
from zklake.settings.alert_rules import TimeLag

_SPELLS = """
SELECT coordinator, group_id, topic, partition, valid_from_at,
  CASE WHEN is_open THEN NULL ELSE valid_to_at END AS ended_at,
  coalesce(lag_seconds_max, lag_seconds) AS seconds
FROM offset_lag
WHERE {overlap} AND coalesce(lag_seconds_max, lag_seconds) >= {seconds}
"""


def find(tables: Tables, rule: TimeLag, span: Span) -> list[Spell]:
    """Per group the times in which one of its partitions was that far behind."""
    names = Names(rule.groups, rule.exclude_groups)
    sql = _SPELLS.format(overlap=span.write_overlap(), seconds=rule.lag_seconds)
    return [
        Spell(
            IncidentSubject("group", (row["coordinator"], row["group_id"])),
            row["valid_from_at"],
            row["ended_at"],
            write_minute(row["valid_from_at"]),
            int(min(row["seconds"], 1e15)),
            {"most_lag_seconds_of_a_partition": row["seconds"]},
            (f"{row['topic']}-{row['partition']}",),
        )
        for row in tables.ask(sql, "offset_lag")
        if names.holds(row["group_id"])
    ]


KIND = RuleKind("time_lag", ("offset_lag",), find, "sampled")
