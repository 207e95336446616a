"""controller_flap: when the controller changed so many times within so long."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.incidents import Happening, find_bursts
from alerts.rule import RuleKind, write_ms
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.settings.alert_rules import ControllerFlap

_CHANGES = """
SELECT changed_at, controller_before, controller_id, controller_epoch
FROM controller_changes
WHERE {within}
ORDER BY changed_at
"""


def find(tables: Tables, rule: ControllerFlap, span: Span) -> list[Spell]:
    """The times in which it flapped."""
    rows = tables.ask(_CHANGES.format(within=span.write_within("changed_at")), "controller_changes")
    changes = [
        Happening(
            IncidentSubject("controller"),
            row["changed_at"],
            write_ms(row["changed_at"]),
            {
                "changes": rule.changes,
                "within_s": rule.within_s,
                "controller_before": row["controller_before"],
                "controller_id": row["controller_id"],
                "controller_epoch": row["controller_epoch"],
            },
        )
        for row in rows
    ]
    return find_bursts(changes, rule.changes, rule.within_s)


KIND = RuleKind(
    "controller_flap", ("controller",), find, count_lookback=lambda rule: float(rule.within_s)
)
