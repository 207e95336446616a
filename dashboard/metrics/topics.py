"""The topics and their partitions' logs and replicas as they are now, read from the lake."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dashboard.pages.topics import list_topics
from delta_tables.live.tables import Tables

_POLICIES = """
SELECT entity_name AS topic, value
FROM config_history
WHERE is_open AND entity_type = 'topics' AND config_key = 'cleanup.policy'
"""
_ENDS = """
SELECT topic, partition, log_start_offset, log_end_offset
FROM log_ends_now
ORDER BY topic, partition
"""
# A sum in which partitions are missing would say that the log shrank.
_TOPIC_ENDS = """
SELECT topic,
  CASE WHEN count(log_start_offset) = count(*) THEN sum(CAST(log_start_offset AS DOUBLE)) END
    AS log_start_offset,
  CASE WHEN count(log_end_offset) = count(*) THEN sum(CAST(log_end_offset AS DOUBLE)) END
    AS log_end_offset
FROM log_ends_now
GROUP BY topic
ORDER BY topic
"""
_REPLICAS = """
SELECT topic, partition, leader, array_length(isr) AS in_sync, array_length(replicas) AS replicas,
  is_preferred_leader, is_under_replicated
FROM partition_health
ORDER BY topic, partition
"""


class Topic(NamedTuple):
    """A topic; the policy is the one that was set for it."""

    topic: str
    partition_count: int | None
    replication_factor: int | None
    cleanup_policy: str | None


class Ends(NamedTuple):
    """Where the log of a partition begins and ends; of a topic, the sums."""

    topic: str
    partition: int | None
    log_start_offset: float | None
    log_end_offset: float | None


class Replicas(NamedTuple):
    """Who leads a partition, and who follows."""

    topic: str
    partition: int
    leader: int | None
    in_sync: int | None
    replicas: int | None
    is_preferred_leader: bool | None
    is_under_replicated: bool | None


def read_topics(tables: Tables, is_wanted: Callable[[str], bool]) -> list[Topic]:
    """The topics, by name."""
    policies = {row["topic"]: row["value"] for row in tables.query(_POLICIES, "config_history")}
    rows = sorted(list_topics(tables), key=lambda row: str(row["topic"]))
    return [
        Topic(
            row["topic"],
            row["partition_count"],
            row["replication_factor"],
            policies.get(row["topic"]),
        )
        for row in rows
        if is_wanted(row["topic"])
    ]


def list_ends(tables: Tables, is_wanted: Callable[[str], bool]) -> list[Ends]:
    """The ends of every partition's log."""
    return [Ends(**row) for row in tables.ask(_ENDS, "log_ends_now") if is_wanted(row["topic"])]


def sum_ends(tables: Tables, is_wanted: Callable[[str], bool]) -> list[Ends]:
    """The same by topic."""
    rows = tables.ask(_TOPIC_ENDS, "log_ends_now")
    return [Ends(partition=None, **row) for row in rows if is_wanted(row["topic"])]


def list_replicas(tables: Tables, is_wanted: Callable[[str], bool]) -> list[Replicas]:
    """Every partition's leader and replicas."""
    rows = tables.ask(_REPLICAS, "partition_health")
    return [Replicas(**row) for row in rows if is_wanted(row["topic"])]
