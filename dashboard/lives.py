"""The lives of brokers: every time that one was registered, from when until when. Knows no page."""

from __future__ import annotations

from dashboard.openapi.rows import WORDS, describe_rows
from dashboard.openapi.shapes import Instant, Named, choose
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.live.tables import Row, Tables

# One czxid is one life of a registration; its address may change within it. A time that is not
# known is long ago.
_LIVES = """
SELECT broker_id, czxid, coalesce(min(valid_from_at), to_timestamp(0)) AS came_at,
  CASE WHEN bool_or(is_open) THEN NULL ELSE coalesce(max(valid_to_at), to_timestamp(0)) END
    AS left_at,
  last_value(ended_by ORDER BY valid_from_seq) AS ended_by,
  last_value(exit ORDER BY valid_from_seq) AS exit,
  last_value(exit_evidence ORDER BY valid_from_seq) AS exit_evidence,
  last_value(endpoints ORDER BY valid_from_seq) AS endpoints,
  last_value(rack ORDER BY valid_from_seq) AS rack,
  last_value(session ORDER BY valid_from_seq) AS session
FROM broker_membership
GROUP BY broker_id, czxid
ORDER BY broker_id, came_at
"""
LIFE = Named(
    "BrokerLife",
    describe_rows(
        _LIVES,
        came_at=Instant,
        left_at=Instant | None,
        ended_by=choose(*TABLE_BY_NAME["broker_membership"].ends) | None,
        exit=choose(*WORDS["exit"]) | None,
        exit_evidence=str | None,
        endpoints=list[str] | None,
        rack=str | None,
        session=int | None,
    ),
)


def list_lives(tables: Tables) -> list[Row]:
    """Every life of every broker, in order."""
    return tables.query(_LIVES, "broker_membership")
