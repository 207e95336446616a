"""admin_operations: what operators asked of the controller through ZooKeeper, until it was done."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.payload import Payload
from delta_tables.table import ZNODE_ENDS, Column, Table

_PARTITIONS = "ARRAY<STRUCT<topic: STRING, partition: INT, replicas: ARRAY<INT>>>"

_REQUEST = Payload(
    fields=f"partitions {_PARTITIONS}",
    strings=("topic",),
    empty_kinds=("topic_deletion",),
    is_malformed_sql=(
        "payload.partitions IS NULL OR exists(payload.partitions, wanted -> wanted IS NULL "
        "OR wanted.topic IS NULL OR wanted.partition IS NULL OR wanted.partition < 0 "
        "OR kind = 'reassignment' AND (wanted.replicas IS NULL "
        "OR exists(wanted.replicas, replica -> replica IS NULL)))"
    ),
)

ADMIN_OPERATIONS = Table(
    name="admin_operations",
    grain="One row per state of one request under /admin; it ends when the controller is done.",
    folded="intervals",
    kinds=("reassignment", "preferred_election", "topic_deletion"),
    payload=_REQUEST,
    columns=(
        CLUSTER,
        Column(
            "operation",
            "STRING",
            "reassignment, preferred_election or topic_deletion",
            "kind",
            required=True,
        ),
        Column(
            "topic",
            "STRING",
            "topic that shall be deleted; null for the others: see partitions",
            "IF(kind = 'topic_deletion', get(split(path, '/'), 3), NULL)",
        ),
        Column(
            "partitions",
            _PARTITIONS,
            "partitions asked for; of a reassignment those not yet moved, and their new replicas",
            "payload.partitions",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "operation", "topic"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "139"},
)
