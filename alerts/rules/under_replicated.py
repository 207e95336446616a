"""under_replicated: when the ISR of a partition was smaller than its list of replicas."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind, write_ms
from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Row, Tables
from zklake.name_patterns import Names
from zklake.settings.alert_rules import UnderReplicated

_READS = ("under_replicated_time",)
_SPELLS = """
SELECT topic, partition, short_from, short_to, missing
FROM under_replicated_time
WHERE (short_to IS NULL OR short_to > {start}) AND short_from < {end}
"""


def find(tables: Tables, rule: UnderReplicated, span: Span) -> list[Spell]:
    """The times in which partitions were under-replicated."""
    names = Names(rule.topics, rule.exclude_topics)
    sql = _SPELLS.format(start=write_timestamp(span.start), end=write_timestamp(span.end))
    return [
        Spell(
            _choose_subject(rule, row),
            row["short_from"],
            row["short_to"],
            write_ms(row["short_from"]),
            evidence={"missing": row["missing"]},
            items=(f"{row['topic']}-{row['partition']}",),
        )
        for row in tables.ask(sql, *_READS)
        if names.holds(row["topic"])
    ]


def _choose_subject(rule: UnderReplicated, row: Row) -> IncidentSubject:
    if rule.by == "cluster":
        return IncidentSubject("cluster")
    if rule.by == "topic":
        return IncidentSubject("topic", (row["topic"],))
    return IncidentSubject("partition", (row["topic"], str(row["partition"])))


KIND = RuleKind("under_replicated", _READS, find)
