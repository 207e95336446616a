"""pipeline_stale: when a query of the lake would have returned old data.

Every event says when it was observed and when it was folded, so this, too, is known of the past:
a watcher that is away writes nothing, and what a stream that was away folds later says so.
"""

from __future__ import annotations

from datetime import timedelta

from alerts.incident import IncidentSubject, Spell
from alerts.rule import RuleKind
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.settings.alert_rules import PipelineStale
from zklake.times import write_time

# What was folded up to some time, until the next batch; only where that is too long.
_SILENCES = """
WITH batches AS (
  SELECT coalesce(ingested_at, observed_at) AS folded_at, max(observed_at) AS last_at,
    max(seq) AS last_seq
  FROM znode_events
  WHERE observed_on >= DATE '{day}'
  GROUP BY coalesce(ingested_at, observed_at)
), known AS (
  SELECT lead(folded_at) OVER (ORDER BY folded_at) AS next_at,
    max(last_at) OVER (ORDER BY folded_at) AS last_at,
    max(last_seq) OVER (ORDER BY folded_at) AS last_seq
  FROM batches
)
SELECT last_at, last_seq, next_at
FROM known
WHERE next_at IS NULL OR next_at > last_at + INTERVAL '{after_ms} milliseconds'
"""


def find(tables: Tables, rule: PipelineStale, span: Span) -> list[Spell]:
    """The times in which the last event was too old."""
    # One day more: the last event before the range may be as old.
    day = (span.start - timedelta(days=1)).date().isoformat()
    sql = _SILENCES.format(day=day, after_ms=int(rule.stale_after_s * 1000))
    after = timedelta(seconds=rule.stale_after_s)
    return [
        Spell(
            IncidentSubject("pipeline"),
            row["last_at"] + after,
            row["next_at"],
            row["last_seq"],
            evidence={"last_event_at": write_time(row["last_at"])},
        )
        for row in tables.ask(sql, "znode_events")
        # Records without a time that can be believed do not show how old they are.
        if row["last_at"] is not None and (row["next_at"] is None or row["next_at"] >= span.start)
    ]


KIND = RuleKind("pipeline_stale", ("znode_events",), find, "now")
