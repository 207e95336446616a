"""The incident view: all that happened around a group, a topic or a broker, on one time axis.

`load_incident` reads it, `draw_incident` (dashboard/incident_view.py) draws it, and the macro of
templates/_incident.html shows it on any page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dashboard.lives import LIFE, list_lives
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Shape, say
from dashboard.page import Asked, Data
from dashboard.series import FLOW, load_flow
from delta_tables.live.tables import Row
from delta_tables.reading import quote

# The tables whose news it shows.
INCIDENT_READS = (
    "offset_lag",
    "lag_rollups",
    "ownership_history",
    "rebalances",
    "partition_state",
    "broker_membership",
    "config_history",
    "admin_operations",
    "log_gaps",
)


class Scope(NamedTuple):
    """Whom it is about, as conditions in SQL; without one, that part is left out."""

    # Of offset_lag and lag_rollups, and what names each line.
    lag: str = ""
    label: str = ""
    # Of ownership_history and, unless the page reads them with their cost, rebalances.
    group: str = ""
    has_rebalances: bool = False
    # Of partition_state; only partitions that changed are read, unless all of them are wanted.
    partitions: str = ""
    all_partitions: bool = False
    # Whose configs and operations are shown beside those of brokers, users and clients; None: all.
    topics: Sequence[str] | None = None


_TENURES = """
SELECT topic, partition, owner, owner_member_id, valid_from_seq, valid_from_at, valid_to_at,
  is_open, ended_by
FROM ownership_history
WHERE {where} AND {overlap}
ORDER BY topic, partition, valid_from_seq
LIMIT 20000
"""
_REBALANCES = """
SELECT trigger, trigger_member_id, trigger_topic, trigger_exit, moved, outcome, valid_from_seq,
  valid_from_at, valid_to_at
FROM rebalances
WHERE {where} AND {overlap}
ORDER BY valid_from_seq
LIMIT 2000
"""
_STATES = """
SELECT topic, partition, leader, isr, leader_epoch, controller_epoch, valid_from_seq,
  valid_from_at, valid_to_at, is_open, ended_by
FROM partition_state
WHERE {where} AND {overlap}{changed}
ORDER BY topic, partition, valid_from_seq
LIMIT 20000
"""
_REPLICAS = """
SELECT topic, replicas
FROM topics
WHERE is_open AND broker_id IS NULL AND topic IN ({names})
"""
_CONFIGS = """
SELECT entity_type, entity_name, config_key, value, is_redacted, valid_from_seq, valid_from_at,
  valid_to_at, ended_by
FROM config_history
WHERE config_key IS NOT NULL AND {topics}
  AND ({came} OR (ended_by IN ('removed', 'deleted') AND {went}))
ORDER BY valid_from_seq DESC
LIMIT 500
"""
_OPERATIONS = """
SELECT operation, topic, partition, replicas, valid_from_seq, valid_from_at, valid_to_at, ended_by
FROM admin_operations
WHERE {topics} AND {overlap}
ORDER BY valid_from_seq DESC
LIMIT 500
"""
_GAPS = """
SELECT gap_id, reason, valid_from_at, valid_to_at
FROM log_gaps
WHERE {overlap}
ORDER BY valid_from_seq DESC
LIMIT 200
"""
INCIDENT_SHAPE: dict[str, Shape] = {
    "states": [
        {
            **describe_rows(_STATES),
            "replica_count": say(int | None, "replicas that it shall have, as known now"),
        }
    ],
    "sessions": [LIFE],
    "configs_changed": [describe_rows(_CONFIGS)],
    "operations": [describe_rows(_OPERATIONS)],
    "gaps": [describe_rows(_GAPS)],
}
GROUP_HISTORY: dict[str, Shape] = {
    "lag": FLOW,
    "tenures": [describe_rows(_TENURES)],
}
BRIEF_REBALANCE: dict[str, Shape] = describe_rows(_REBALANCES)


def load_incident(asked: Asked, scope: Scope) -> Data:
    """What SURROUNDINGS names; with a group or lag, also what GROUP_HISTORY names."""
    tables, span = asked.tables, asked.span

    def ask(sql: str, table: str, **given: str) -> list[Row]:
        return tables.query(sql.format(overlap=span.write_overlap(), **given), table)

    came, went = span.write_within("valid_from_at"), span.write_within("valid_to_at")
    data: Data = {}
    if scope.lag:
        data["lag"] = load_flow(tables, span, scope.lag, scope.label)
    if scope.group:
        data["tenures"] = ask(_TENURES, "ownership_history", where=scope.group)
    if scope.has_rebalances:
        data["rebalances"] = ask(_REBALANCES, "rebalances", where=scope.group)
    changed = "" if scope.all_partitions else f" AND ({came} OR {went} OR leader < 0)"
    states: list[Row] = []
    if scope.partitions:
        states = ask(_STATES, "partition_state", where=scope.partitions, changed=changed)
    return data | {
        "states": _add_replicas(asked, states),
        "sessions": [life for life in list_lives(tables) if _is_in(asked, life)],
        "configs_changed": ask(
            _CONFIGS,
            "config_history",
            topics=_write_topics("entity_name", scope, " OR entity_type <> 'topics'"),
            came=came,
            went=went,
        ),
        "operations": ask(
            _OPERATIONS, "admin_operations", topics=_write_topics("topic", scope, "")
        ),
        "gaps": ask(_GAPS, "log_gaps"),
    }


def _add_replicas(asked: Asked, states: list[Row]) -> list[Row]:
    names = ", ".join(quote(topic) for topic in sorted({row["topic"] for row in states}))
    topics = asked.tables.query(_REPLICAS.format(names=names), "topics") if names else []
    counts = {
        (row["topic"], partition): len(brokers)
        for row in topics
        for partition, brokers in dict(row["replicas"] or ()).items()
    }
    return [
        {**row, "replica_count": counts.get((row["topic"], row["partition"]))} for row in states
    ]


def _is_in(asked: Asked, life: Row) -> bool:
    return life["came_at"] < asked.span.end and (life["left_at"] or asked.now) > asked.span.start


def _write_topics(column: str, scope: Scope, others: str) -> str:
    if scope.topics is None:
        return "true"
    names = ", ".join(quote(topic) for topic in scope.topics) or "NULL"
    return f"({column} IN ({names}){others})"
