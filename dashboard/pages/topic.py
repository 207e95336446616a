"""Topic: one topic's partitions, their leaders and ISR over time, and its consumer groups."""

from __future__ import annotations

from markupsafe import Markup

from dashboard.finding import check_seen
from dashboard.incident import INCIDENT_READS, INCIDENT_SHAPE, Scope, load_incident
from dashboard.incident_view import draw_incident
from dashboard.openapi.params import Param
from dashboard.openapi.rows import describe_rows
from dashboard.page import Asked, Data, Page
from dashboard.pages.topics import READS
from dashboard.series import FLOW
from delta_tables.live.tables import Row
from delta_tables.reading import quote
from zklake.errors import QueryError

_READS = tuple(dict.fromkeys((*READS, *INCIDENT_READS)))

_TOPIC = """
SELECT topic, topic_id, partition_count, incarnation, valid_from_at, valid_to_at, is_open, ended_by
FROM topics
WHERE {where}
ORDER BY valid_from_seq DESC
LIMIT 50
"""
_PARTITIONS = """
SELECT partition, leader, isr, replicas, leader_epoch, is_offline, is_under_replicated,
  is_preferred_leader, since
FROM partition_health
WHERE {where}
ORDER BY partition
LIMIT 5000
"""
_ENDS = """
SELECT partition, log_start_offset, log_end_offset, error, sampled_at, confirmed_at
FROM log_ends_now
WHERE {where}
"""
_CONFIGS = """
SELECT config_key, value, is_redacted, valid_from_at
FROM config_history
WHERE is_open AND entity_type = 'topics' AND entity_name = {topic}
ORDER BY config_key
"""
_GROUPS = """
SELECT coordinator, group_id, sum(lag) AS lag, max(lag_seconds) AS lag_seconds
FROM lag_now
WHERE {where}
GROUP BY coordinator, group_id
ORDER BY lag DESC NULLS LAST, group_id
LIMIT 100
"""


_END = describe_rows(_ENDS)
_FLAGS = dict.fromkeys(("is_offline", "is_under_replicated", "is_preferred_leader"), bool | None)


def load(asked: Asked) -> Data:
    """Everything that is known of one topic in the range."""
    name = asked.params.get("topic", "")
    if not name:
        raise QueryError("No topic given: add topic, or choose a topic on the Topics page.")
    check_seen(asked.tables, "topic", name)
    where = f"topic = {quote(name)}"

    def ask(sql: str, table: str) -> list[Row]:
        text = sql.format(where=where, overlap=asked.span.write_overlap(), topic=quote(name))
        return asked.tables.query(text, table)

    ends = {row["partition"]: row for row in ask(_ENDS, "log_ends_now")}
    nothing = dict.fromkeys(_END)
    partitions = [
        {**nothing, **row, **ends.get(row["partition"], {})}
        for row in ask(_PARTITIONS, "partition_health")
    ]
    return {
        "topic": name,
        "lives": ask(_TOPIC, "topics"),
        "partitions": partitions,
        "configs": ask(_CONFIGS, "config_history"),
        "groups": ask(_GROUPS, "lag_now"),
        **load_incident(
            asked,
            Scope(
                lag=where, label="group_id", partitions=where, all_partitions=True, topics=[name]
            ),
        ),
    }


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """All that happened around the topic, on one time axis."""
    return draw_incident(asked, data)


PAGE = Page(
    "topic",
    "Topic",
    load,
    _READS,
    draw,
    in_menu=False,
    under="topics",
    params=(Param("topic", str, "The topic.", ("orders",), is_required=True),),
    answer={
        "topic": str,
        "lives": [describe_rows(_TOPIC)],
        "partitions": [{**_END, **describe_rows(_PARTITIONS, replicas=list[int] | None, **_FLAGS)}],
        "configs": [describe_rows(_CONFIGS)],
        "groups": [describe_rows(_GROUPS, lag=int | None, lag_seconds=float | None)],
        "lag": FLOW,
        **INCIDENT_SHAPE,
    },
)
