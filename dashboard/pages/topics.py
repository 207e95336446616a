"""Topics: every topic, its partitions, and what is wrong with them."""

from __future__ import annotations

from markupsafe import Markup

from dashboard.listing import describe_list, list_page, list_params
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Named, say
from dashboard.page import Asked, Data, Page
from dashboard.sparklines import describe_rate, draw_line, find_rate, load_produced
from delta_tables.live.tables import Row, Tables

READS = (
    "topics",
    "partition_state",
    "broker_membership",
    "admin_operations",
    "controller",
    "log_ends",
)

_TOPICS = """
SELECT topic, partition_count, incarnation, topic_id, valid_from_at AS since,
  cardinality(adding_replicas) > 0 OR cardinality(removing_replicas) > 0 AS is_moving,
  CAST(coalesce(array_length(map_values(replicas)[1]), 0) AS BIGINT) AS replication_factor
FROM topics
WHERE is_open
"""
_HEALTH = """
SELECT topic, count(*) FILTER (WHERE is_offline AND NOT is_under_deletion) AS offline,
  count(*) FILTER (WHERE is_under_replicated) AS under_replicated,
  count(*) FILTER (WHERE NOT is_preferred_leader) AS not_preferred,
  bool_or(is_under_deletion) AS is_under_deletion, max(leader_epoch) AS leader_epoch
FROM partition_health
GROUP BY topic
"""
_ENDS = """
SELECT topic, sum(log_end_offset - log_start_offset) AS records
FROM log_ends_now
GROUP BY topic
"""
_CHANGES = """
SELECT topic, count(*) AS changes
FROM partition_state
WHERE {within}
GROUP BY topic
"""


_TOPIC = Named(
    "Topic",
    {
        **describe_rows(_TOPICS, is_moving=bool | None, replication_factor=int),
        **describe_rows(
            _HEALTH,
            offline=int,
            under_replicated=int,
            not_preferred=int,
            is_under_deletion=bool,
            leader_epoch=say(int | None, "the highest leader epoch of its partitions"),
        ),
        "records": say(int | None, "records in the log now; null: log ends are not sampled"),
        "changes": say(int, "partition state changes in the time range"),
    },
)


_SHOWN = Named(
    "ListedTopic",
    {
        **_TOPIC.shape,
        "line": say(list[float | None], "records per second over the time range, in thirty parts"),
        "produced": say(float | None, "records per second in the last tenth of the time range"),
    },
)


def list_topics(tables: Tables) -> list[Row]:
    """Every topic, as it is now."""
    return tables.derive("topics", READS, lambda: _join(tables))


def _join(tables: Tables) -> list[Row]:
    empty = {
        "offline": 0,
        "under_replicated": 0,
        "not_preferred": 0,
        "is_under_deletion": False,
        "leader_epoch": None,
        "records": None,
    }
    topics = {row["topic"]: {**empty, **row} for row in tables.query(_TOPICS, "topics")}
    for sql, table in ((_HEALTH, "partition_health"), (_ENDS, "log_ends_now")):
        for row in tables.query(sql, table):
            if row["topic"] in topics:
                topics[row["topic"]].update(row)
    return list(topics.values())


def load(asked: Asked) -> Data:
    """One page of the list."""
    sql = _CHANGES.format(within=asked.span.write_within("valid_from_at"))
    changes = {row["topic"]: row["changes"] for row in asked.tables.query(sql, "partition_state")}
    rows = [
        {**topic, "changes": changes.get(topic["topic"], 0)} for topic in list_topics(asked.tables)
    ]
    listed = list_page(rows, asked.params, search=("topic",), sort="topic")
    names = [row["topic"] for row in listed["rows"]]
    lines = load_produced(asked.tables, asked.span, names)
    listed["rows"] = [
        {
            **row,
            "line": lines.get(row["topic"], []),
            "produced": find_rate(lines.get(row["topic"])),
        }
        for row in listed["rows"]
    ]
    return listed


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """How fast records came in, of each listed topic."""
    return {
        f"line{number}": draw_line(row["line"], describe_rate(row["line"]))
        for number, row in enumerate(data["rows"])
    }


PAGE = Page(
    "topics",
    "Topics",
    load,
    READS,
    draw,
    params=list_params(_TOPIC, "the topic's name"),
    answer=describe_list(_SHOWN),
)
