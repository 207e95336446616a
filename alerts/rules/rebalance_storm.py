"""rebalance_storm: when a group rebalanced so many times within so long."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.incidents import Happening, find_bursts
from alerts.rule import RuleKind
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.name_patterns import Names
from zklake.settings.alert_rules import RebalanceStorm

_REBALANCES = """
SELECT coordinator, group_id, valid_from_at, valid_from_seq, trigger, trigger_member_id
FROM rebalances
WHERE {within}
"""


def find(tables: Tables, rule: RebalanceStorm, span: Span) -> list[Spell]:
    """Per group the times of its storms."""
    names = Names(rule.groups, rule.exclude_groups)
    rows = tables.ask(_REBALANCES.format(within=span.write_within("valid_from_at")), "rebalances")
    begun = [
        Happening(
            IncidentSubject("group", (row["coordinator"], row["group_id"])),
            row["valid_from_at"],
            row["valid_from_seq"],
            {
                "rebalances": rule.rebalances,
                "within_s": rule.within_s,
                "trigger": row["trigger"],
                "trigger_member_id": row["trigger_member_id"],
            },
        )
        for row in rows
        if names.holds(row["group_id"])
    ]
    return find_bursts(begun, rule.rebalances, rule.within_s)


KIND = RuleKind(
    "rebalance_storm", ("rebalances",), find, count_lookback=lambda rule: float(rule.within_s)
)
