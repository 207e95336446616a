"""Topic: one topic's partitions, their leaders and ISR over time, and its consumer groups."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from dashboard.charts import Bar, Lane, draw_lanes
from dashboard.openapi.params import Param
from dashboard.openapi.rows import describe_rows
from dashboard.page import Asked, Data, Page
from delta_tables.live.tables import Row
from delta_tables.reading import quote
from zklake.errors import QueryError
from zklake.times import write_duration

_READS = (
    "topics",
    "partition_state",
    "broker_membership",
    "admin_operations",
    "controller",
    "log_ends",
    "config_history",
    "offset_lag",
)
_LANES = 60

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
FROM log_ends
WHERE is_open AND {where}
"""
_STATES = """
SELECT partition, leader, isr, leader_epoch, controller_epoch, valid_from_at, valid_to_at, is_open,
  ended_by
FROM partition_state
WHERE {where} AND {overlap}
ORDER BY partition, valid_from_seq
LIMIT 20000
"""
_CONFIGS = """
SELECT config_key, value, is_redacted, valid_from_at
FROM config_history
WHERE is_open AND entity_type = 'topics' AND entity_name = {topic}
ORDER BY config_key
"""
_GROUPS = """
SELECT coordinator, group_id, sum(lag) AS lag, max(lag_seconds) AS lag_seconds
FROM offset_lag
WHERE is_open AND {where}
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
    where = f"topic = {quote(name)}"

    def ask(sql: str, table: str) -> list[Row]:
        text = sql.format(where=where, overlap=asked.span.write_overlap(), topic=quote(name))
        return asked.tables.query(text, table)

    ends = {row["partition"]: row for row in ask(_ENDS, "log_ends")}
    nothing = dict.fromkeys(_END)
    partitions = [
        {**nothing, **row, **ends.get(row["partition"], {})}
        for row in ask(_PARTITIONS, "partition_health")
    ]
    return {
        "topic": name,
        "lives": ask(_TOPIC, "topics"),
        "partitions": partitions,
        "states": ask(_STATES, "partition_state"),
        "configs": ask(_CONFIGS, "config_history"),
        "groups": ask(_GROUPS, "offset_lag"),
    }


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """Who led each partition; where brokers were missing from the isr, below it."""
    states: dict[int, list[Row]] = defaultdict(list)
    for row in data["states"]:
        states[row["partition"]].append(row)
    replicas = {row["partition"]: len(row["replicas"] or ()) for row in data["partitions"]}
    leaders = [
        Lane(
            f"partition {number}",
            [_draw_state(asked, row, replicas.get(number, 0)) for row in rows],
        )
        for number, rows in list(states.items())[:_LANES]
    ]
    caption = "Leader of each partition over time"
    return {
        "leaders": draw_lanes(leaders, asked.span, caption) if leaders else Markup(""),
        "lanes_left_out": Markup("{}").format(max(0, len(states) - _LANES)),
    }


def _draw_state(asked: Asked, row: Row, replicas: int) -> Bar:
    end = row["valid_to_at"] or asked.span.end
    lasted = write_duration((end - row["valid_from_at"]).total_seconds())
    isr = row["isr"] or []
    if row["leader"] is None or row["leader"] < 0:
        who, tone = "no leader", "hole"
    else:
        who = f"broker {row['leader']}"
        tone = f"c{row['leader'] % 8}" + (" thin" if len(isr) < replicas else "")
    title = f"{who}, epoch {row['leader_epoch']}, ISR {isr}: {lasted}"
    href = asked.link_at(max(row["valid_from_at"], asked.span.start))
    return Bar(row["valid_from_at"], end, title, tone, href, who)


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
        "states": [describe_rows(_STATES)],
        "configs": [describe_rows(_CONFIGS)],
        "groups": [describe_rows(_GROUPS, lag=int | None, lag_seconds=float | None)],
    },
)
