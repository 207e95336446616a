"""broker_flap: when a broker left so many times within so long."""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.incidents import Happening, find_bursts
from alerts.rule import RuleKind, write_ms
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.settings.alert_rules import BrokerFlap

_DEPARTURES = """
SELECT broker_id, left_at, ended_by, exit, host
FROM broker_flaps
WHERE left_at IS NOT NULL AND {within}
"""


def find(tables: Tables, rule: BrokerFlap, span: Span) -> list[Spell]:
    """Per broker the times in which it flapped."""
    sql = _DEPARTURES.format(within=span.write_within("left_at"))
    departures = [
        Happening(
            IncidentSubject("broker", (str(row["broker_id"]),)),
            row["left_at"],
            write_ms(row["left_at"]),
            {
                "departures": rule.departures,
                "within_s": rule.within_s,
                **{name: row[name] for name in ("ended_by", "exit", "host")},
            },
        )
        for row in tables.ask(sql, "broker_flaps")
    ]
    return find_bursts(departures, rule.departures, rule.within_s)


KIND = RuleKind(
    "broker_flap",
    ("broker_membership",),
    find,
    count_lookback=lambda rule: float(rule.within_s),
)
