"""topics: which topics there were, and to which replicas their partitions were assigned."""

from __future__ import annotations

from typing import Any

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.observation import (
    Observation,
    Read,
    of_path,
    of_payload,
    of_stat,
    read_key_number,
)
from delta_tables.table import ZNODE_ENDS, Column, Table
from zklake.events.payloads.topic import Replicas, Topic, TopicBroker

_REPLICAS = "MAP<INT, ARRAY<INT>>"


def _read_broker(seen: Observation) -> Any:
    """In 0.7 one child per broker holds a bare count of partitions."""
    return read_key_number(seen.parts[4]) if seen.event.kind == "topic_broker" else None


def _read_count(seen: Observation) -> int | None:
    topic = seen.payload
    if isinstance(topic, Topic):
        return len(topic.partitions)
    return topic.partition_count if isinstance(topic, TopicBroker) else None


def _read_moves(name: str) -> Read:
    """Absent before version 2 is not the same as empty."""

    def read(seen: Observation) -> Replicas | None:
        topic = seen.payload
        if not isinstance(topic, Topic):
            return None
        replicas: Replicas = getattr(topic, name)
        return replicas if replicas or topic.version >= 2 else None

    return read


TOPICS = Table(
    name="topics",
    grain="One row per state of one topic (/brokers/topics/[topic]); 0.7: per topic and broker.",
    folded="intervals",
    kinds=("topic", "topic_broker"),
    columns=(
        CLUSTER,
        Column("topic", "STRING", "name of the topic", of_path(3), required=True),
        Column(
            "broker_id",
            "INT",
            "0.7 only: the broker whose partitions of the topic these are; null since 0.8",
            _read_broker,
        ),
        Column(
            "topic_id",
            "STRING",
            "topic id (2.8 and later); another one is another topic of that name",
            of_payload("topic_id"),
        ),
        Column(
            "partition_count",
            "INT",
            "number of partitions",
            _read_count,
        ),
        Column(
            "replicas",
            _REPLICAS,
            "ASSIGNED replicas of each partition, the preferred leader first; not the isr",
            of_payload("partitions"),
        ),
        Column(
            "adding_replicas",
            _REPLICAS,
            "replicas that a reassignment adds (2.4 and later); empty when idle",
            _read_moves("adding_replicas"),
        ),
        Column(
            "removing_replicas",
            _REPLICAS,
            "replicas that a reassignment removes (2.4 and later); empty when idle",
            _read_moves("removing_replicas"),
        ),
        Column(
            "assignment_version",
            "INT",
            "version of the assignment's JSON; 0 for the numbers of 0.7",
            of_payload("version"),
        ),
        Column(
            "incarnation",
            "BIGINT",
            "czxid of the topic: a topic deleted and created again is another one",
            of_stat("czxid"),
        ),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "topic", "broker_id"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "107"},
)
