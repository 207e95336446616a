"""group_lag: when a group was so many records behind, over all its partitions."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind, write_minute
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from delta_tables.views import VIEWS
from zklake.name_patterns import Names
from zklake.settings.alert_rules import GroupLag

_HISTORY = next(view.sql for view in VIEWS if view.name == "group_lag_history")
# The view over what it needs for the range: by itself it would read the whole history.
_SPELLS = """
WITH offset_lag AS (SELECT * FROM offset_lag WHERE {overlap})
SELECT coordinator, group_id, at, until_at, total_lag, partitions
FROM ({view})
WHERE total_lag >= {records}
"""


def find(tables: Tables, rule: GroupLag, span: Span) -> list[Spell]:
    """Per group the times in which its lag was that large."""
    names = Names(rule.groups, rule.exclude_groups)
    sql = _SPELLS.format(overlap=span.write_overlap(), view=_HISTORY, records=rule.records)
    return [
        Spell(
            IncidentSubject("group", (row["coordinator"], row["group_id"])),
            row["at"],
            row["until_at"],
            write_minute(row["at"]),
            row["total_lag"],
            {"lag": row["total_lag"], "partitions": row["partitions"]},
        )
        for row in tables.ask(sql, "offset_lag")
        if names.holds(row["group_id"])
    ]


KIND = RuleKind("group_lag", ("offset_lag",), find, "sampled")
