"""Racks: how many brokers are registered in each.

test_recipes.py puts it into a copy of the product as dashboard/pages/racks.py.
"""

from __future__ import annotations

from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import say
from dashboard.page import Asked, Data, Page

_RACKS = """
SELECT rack, count(*) AS brokers
FROM broker_membership
WHERE is_open
GROUP BY rack
ORDER BY rack
"""


def load(asked: Asked) -> Data:
    """The racks as they are now."""
    return {"racks": asked.tables.query(_RACKS, "broker_membership")}


PAGE = Page(
    "racks",
    "Racks",
    load,
    ("broker_membership",),
    has_span=False,
    answer={"racks": [describe_rows(_RACKS, brokers=say(int, "brokers that are registered"))]},
)
