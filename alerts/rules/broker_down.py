"""broker_down: when a broker that had been registered was not."""

from __future__ import annotations

from datetime import timedelta

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind, write_ms
from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Tables
from zklake.settings.alert_rules import BrokerDown

_ABSENCES = """
SELECT broker_id, left_at, back_at, ended_by, exit, host
FROM broker_flaps
WHERE left_at IS NOT NULL AND (back_at IS NULL OR back_at >= {start})
"""


def find(tables: Tables, rule: BrokerDown, span: Span) -> list[Spell]:
    """Per broker its absences; one that is away for too long is no broker any more."""
    spells = []
    sql = _ABSENCES.format(start=write_timestamp(span.start))
    for row in tables.ask(sql, "broker_flaps"):
        forgotten_at = row["left_at"] + timedelta(seconds=rule.forget_s)
        end = min(row["back_at"] or forgotten_at, forgotten_at)
        if end < span.start or row["left_at"] >= span.end:
            continue
        spells.append(
            Spell(
                IncidentSubject("broker", (str(row["broker_id"]),)),
                row["left_at"],
                end,
                write_ms(row["left_at"]),
                evidence={name: row[name] for name in ("ended_by", "exit", "host")},
            )
        )
    return spells


KIND = RuleKind("broker_down", ("broker_membership",), find)
