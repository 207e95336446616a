"""Broker: one broker's sessions, what its absences cost, and the partitions it leads or keeps."""

from __future__ import annotations

from typing import Annotated

from markupsafe import Markup
from msgspec import Meta

from dashboard.absences import ABSENCE, list_absences
from dashboard.finding import check_seen
from dashboard.incident import INCIDENT_READS, INCIDENT_SHAPE, Scope, load_incident
from dashboard.incident_view import draw_incident
from dashboard.lives import list_lives
from dashboard.openapi.params import Param
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Maybe, say
from dashboard.page import Asked, Data, Page
from dashboard.pages.brokers import BROKER, CONTROLLER, describe
from dashboard.sparklines import describe_rate, draw_line, find_rate, load_led
from zklake.errors import QueryError

_READS = (*INCIDENT_READS, "controller", "topics", "log_ends", "consumption_pauses")
# Partitions that it led or kept at some time.
_ITS = """
topic || '-' || CAST(partition AS STRING) IN (
  SELECT topic || '-' || CAST(partition AS STRING) FROM partition_state
  WHERE leader = {broker} OR array_has(isr, {broker}))
"""
# The ones in trouble first.
_PARTITIONS = """
SELECT topic, partition, leader, isr, replicas, leader_epoch, since, is_offline,
  is_under_replicated, leader = {broker} AS is_leader, array_has(isr, {broker}) AS is_in_sync,
  count(*) OVER () AS total, count(*) FILTER (WHERE leader = {broker}) OVER () AS leads,
  count(*) FILTER (WHERE array_has(isr, {broker})) OVER () AS in_sync
FROM partition_health
WHERE leader = {broker} OR array_has(isr, {broker}) OR array_has(replicas, {broker})
ORDER BY is_in_sync, is_offline DESC, is_under_replicated DESC, is_leader DESC, topic, partition
LIMIT 200
"""
_CONFIGS = """
SELECT config_key, value, is_redacted, valid_from_at AS since
FROM config_history
WHERE is_open AND config_key IS NOT NULL AND entity_type = 'brokers'
  AND entity_name IN ('{broker}', '<default>')
ORDER BY config_key
"""
_LARGEST = 2**31 - 1
_TOTALS = ("total", "leads", "in_sync")


def load(asked: Asked) -> Data:
    """Everything that is known of one broker in the range."""
    broker, tables, span = _read_id(asked), asked.tables, asked.span
    check_seen(tables, "broker", str(broker))
    lives = [life for life in list_lives(tables) if life["broker_id"] == broker]
    terms = tables.query(CONTROLLER.format(overlap=span.write_overlap()), "controller")
    rows = tables.query(_PARTITIONS.format(broker=broker), "partition_health")
    line = load_led(tables, span).get(broker, [])
    counts = rows[0] if rows else dict.fromkeys(_TOTALS, 0)
    is_controller = any(
        row["controller_id"] == broker and row["valid_to_at"] is None for row in terms
    )
    return {
        "broker_id": broker,
        "broker": None
        if not lives
        else {
            "broker_id": broker,
            **describe(asked, lives),
            "is_controller": is_controller,
            "leads": counts["leads"],
            "in_sync": counts["in_sync"],
            "line": line,
            "produced": find_rate(line),
        },
        "absences": list_absences(tables, span, asked.now, broker),
        "reigns": [row for row in terms if row["controller_id"] == broker],
        "partitions": [
            {name: value for name, value in row.items() if name not in _TOTALS} for row in rows
        ],
        "partitions_total": counts["total"],
        "configs": tables.query(_CONFIGS.format(broker=broker), "config_history"),
        **load_incident(asked, Scope(partitions=_ITS.format(broker=broker))),
    }


def _read_id(asked: Asked) -> int:
    text = asked.params.get("broker_id", "")
    if not text:
        raise QueryError("No broker given: add broker_id, or choose one on the Brokers page.")
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _LARGEST):
        raise QueryError(f"broker_id: cannot read {text[:100]!r} as the number of a broker.")
    return int(text)


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """All that happened around the broker, on one time axis."""
    line = data["broker"]["line"] if data["broker"] else []
    return {**draw_incident(asked, data), "line": draw_line(line, describe_rate(line))}


PAGE = Page(
    "broker",
    "Broker",
    load,
    _READS,
    draw,
    in_menu=False,
    under="brokers",
    params=(
        Param(
            "broker_id",
            Annotated[int, Meta(ge=0, le=_LARGEST)],
            "The broker.",
            ("1",),
            is_required=True,
        ),
    ),
    answer={
        "broker_id": int,
        "broker": Maybe(BROKER),
        "absences": [ABSENCE],
        "reigns": [describe_rows(CONTROLLER)],
        "partitions": [
            {
                name: shape
                for name, shape in describe_rows(
                    _PARTITIONS,
                    replicas=list[int] | None,
                    since=describe_rows("SELECT valid_from_at FROM partition_state")[
                        "valid_from_at"
                    ],
                    is_offline=bool | None,
                    is_under_replicated=bool | None,
                    is_leader=bool | None,
                    is_in_sync=bool | None,
                    total=int,
                    leads=int,
                    in_sync=int,
                ).items()
                if name not in _TOTALS
            }
        ],
        "partitions_total": say(int, "partitions that it leads or is a replica of"),
        "configs": [describe_rows(_CONFIGS)],
        **INCIDENT_SHAPE,
    },
)
