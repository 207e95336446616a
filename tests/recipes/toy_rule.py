"""rackless_broker: when a broker was registered without a rack.

test_recipes.py puts it into a copy of the product as alerts/rules/rackless_broker.py.
"""

from __future__ import annotations

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from tests.recipes.toy_rule_settings import RacklessBroker

_RACKLESS = """
SELECT broker_id, valid_from_at, valid_to_at, valid_from_seq
FROM broker_membership
WHERE rack IS NULL AND broker_id >= {least_id} AND {overlap}
"""


def find(tables: Tables, rule: RacklessBroker, span: Span) -> list[Spell]:
    """Per broker the times in which its registration named no rack."""
    sql = _RACKLESS.format(least_id=rule.least_id, overlap=span.write_overlap())
    return [
        Spell(
            IncidentSubject("broker", (str(row["broker_id"]),)),
            row["valid_from_at"],
            row["valid_to_at"],
            row["valid_from_seq"],
        )
        for row in tables.ask(sql, "broker_membership")
    ]


KIND = RuleKind("rackless_broker", ("broker_membership",), find)
