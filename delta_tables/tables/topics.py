"""topics: which topics there were, and to which replicas their partitions were assigned."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.payload import Payload
from delta_tables.table import ZNODE_ENDS, Column, Table

_REPLICAS = "MAP<INT, ARRAY<INT>>"
_IS_PARTITION = "partition RLIKE '^(0|[1-9][0-9]{0,9})$' AND try_cast(partition AS INT) IS NOT NULL"


def _replicas(field: str) -> str:
    return f"transform_keys(payload.{field}, (partition, replicas) -> CAST(partition AS INT))"


def _is_bad(field: str) -> str:
    """SQL: a key is no partition, or a partition has no list of replicas."""
    return (
        f"exists(map_entries(payload.{field}), entry -> NOT coalesce("
        f"{_IS_PARTITION.replace('partition', 'entry.key')}, false) OR entry.value IS NULL "
        "OR exists(entry.value, replica -> replica IS NULL))"
    )


# Versions 1 to 3; in 0.7 one child per broker holds a bare count of partitions.
_ASSIGNMENT = Payload(
    fields=(
        "topic_id STRING, partitions MAP<STRING, ARRAY<INT>>, "
        "adding_replicas MAP<STRING, ARRAY<INT>>, removing_replicas MAP<STRING, ARRAY<INT>>, "
        "partition_count INT"
    ),
    versions=(1, 2, 3),
    strings=("topic_id",),
    # 0.7 has only a directory here, of the children per broker.
    empty_kinds=("topic",),
    is_malformed_sql=(
        "payload.partitions IS NULL OR payload.version >= 2 AND "
        "(payload.adding_replicas IS NULL OR payload.removing_replicas IS NULL) "
        f"OR {_is_bad('partitions')} "
        f"OR coalesce({_is_bad('adding_replicas')}, false) "
        f"OR coalesce({_is_bad('removing_replicas')}, false)"
    ),
)

TOPICS = Table(
    name="topics",
    grain="One row per state of one topic (/brokers/topics/[topic]); 0.7: per topic and broker.",
    folded="intervals",
    kinds=("topic", "topic_broker"),
    payload=_ASSIGNMENT,
    columns=(
        CLUSTER,
        Column("topic", "STRING", "name of the topic", "get(split(path, '/'), 3)", required=True),
        Column(
            "broker_id",
            "INT",
            "0.7 only: the broker whose partitions of the topic these are; null since 0.8",
            "IF(kind = 'topic_broker', try_cast(get(split(path, '/'), 4) AS INT), NULL)",
        ),
        Column(
            "topic_id",
            "STRING",
            "topic id (2.8 and later); another one is another topic of that name",
            "payload.topic_id",
        ),
        Column(
            "partition_count",
            "INT",
            "number of partitions",
            f"IF(kind = 'topic', cardinality({_replicas('partitions')}), payload.partition_count)",
        ),
        Column(
            "replicas",
            _REPLICAS,
            "ASSIGNED replicas of each partition, the preferred leader first; not the isr",
            _replicas("partitions"),
        ),
        Column(
            "adding_replicas",
            _REPLICAS,
            "replicas that a reassignment adds (2.4 and later); empty when idle",
            _replicas("adding_replicas"),
        ),
        Column(
            "removing_replicas",
            _REPLICAS,
            "replicas that a reassignment removes (2.4 and later); empty when idle",
            _replicas("removing_replicas"),
        ),
        Column(
            "assignment_version",
            "INT",
            "version of the assignment's JSON; 0 for the numbers of 0.7",
            "payload.version",
        ),
        Column(
            "incarnation",
            "BIGINT",
            "czxid of the topic: a topic deleted and created again is another one",
            "stat.czxid",
        ),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "topic", "broker_id"),
    ends=ZNODE_ENDS,
    ephemeral_paths=("/brokers/topics/{topic}/{broker_id}", "/brokers/topics/{topic}"),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "107"},
)
