"""offline_partition: when a partition had no leader, or one that was not registered."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind, write_ms
from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables
from zklake.name_patterns import Names
from zklake.settings.alert_rules import OfflinePartition

_READS = ("partition_state", "broker_flaps", "admin_operations")
_FAR = "TIMESTAMP '2261-01-01T00:00:00Z'"

# As the view partition_health has it, of every time: a broker's absence ends what it led.
_SPELLS = f"""
SELECT DISTINCT state.topic, state.partition, state.leader,
  greatest(state.valid_from_at, coalesce(away.left_at, state.valid_from_at)) AS started_at,
  nullif(least(
    CASE WHEN state.is_open THEN {_FAR} ELSE state.valid_to_at END,
    CASE WHEN state.leader = -1 THEN {_FAR} ELSE coalesce(away.back_at, {_FAR}) END
  ), {_FAR}) AS ended_at
FROM partition_state AS state
LEFT JOIN (SELECT broker_id, left_at, back_at FROM broker_flaps) AS away
  ON away.broker_id = state.leader
  AND state.valid_from_at < coalesce(away.back_at, {_FAR})
  AND (state.is_open OR state.valid_to_at > away.left_at)
LEFT JOIN (
  SELECT topic, valid_from_at, valid_to_at, is_open FROM admin_operations
  WHERE operation = 'topic_deletion'
) AS deletion
  ON deletion.topic = state.topic
  AND deletion.valid_from_at <= CASE WHEN state.is_open THEN {_FAR} ELSE state.valid_to_at END
  AND (deletion.is_open OR deletion.valid_to_at >= state.valid_from_at)
WHERE (state.leader = -1 OR away.broker_id IS NOT NULL) AND deletion.topic IS NULL AND {{overlap}}
"""  # noqa: S608


def find(tables: Tables, rule: OfflinePartition, span: Span) -> list[Spell]:
    """The times in which partitions were offline."""
    names = Names(rule.topics, rule.exclude_topics)
    sql = _SPELLS.format(overlap=span.write_overlap("state."))
    return [
        Spell(
            _choose_subject(rule, row),
            row["started_at"],
            row["ended_at"],
            # Not the row's seq: one leader may leave twice, and the row stays.
            write_ms(row["started_at"]),
            evidence={"last_leader": None if row["leader"] == -1 else row["leader"]},
            items=(f"{row['topic']}-{row['partition']}",),
        )
        for row in tables.ask(sql, *_READS)
        if names.holds(row["topic"])
    ]


def _choose_subject(rule: OfflinePartition, row: Row) -> IncidentSubject:
    if rule.by == "cluster":
        return IncidentSubject("cluster")
    if rule.by == "topic":
        return IncidentSubject("topic", (row["topic"],))
    return IncidentSubject("partition", (row["topic"], str(row["partition"])))


KIND = RuleKind("offline_partition", _READS, find)
