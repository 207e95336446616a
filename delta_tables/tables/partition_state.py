"""partition_state: who led and replicated each partition, at which epoch."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.payload import Payload
from delta_tables.table import ZNODE_ENDS, Column, Table

_STATE = Payload(
    fields=(
        "leader INT, isr ARRAY<INT>, leader_epoch INT, controller_epoch INT, "
        "leader_recovery_state INT"
    ),
    is_malformed_sql=(
        "payload.leader IS NULL OR payload.isr IS NULL OR payload.leader_epoch IS NULL "
        "OR payload.controller_epoch IS NULL OR exists(payload.isr, broker -> broker IS NULL)"
    ),
)

PARTITION_STATE = Table(
    name="partition_state",
    grain="One row per state of one partition (/brokers/topics/[topic]/partitions/[p]/state).",
    folded="intervals",
    kinds=("partition_state",),
    payload=_STATE,
    columns=(
        CLUSTER,
        Column("topic", "STRING", "name of the topic", "get(split(path, '/'), 3)", required=True),
        Column(
            "partition",
            "INT",
            "number of the partition",
            "try_cast(get(split(path, '/'), 5) AS INT)",
            required=True,
        ),
        Column("leader", "INT", "broker that leads; -1: none does", "payload.leader"),
        Column(
            "isr",
            "ARRAY<INT>",
            "brokers in sync; never empty, so the last of them may be dead",
            "payload.isr",
        ),
        Column(
            "leader_epoch",
            "INT",
            "grows with every decision of a controller, also without a change of leader",
            "payload.leader_epoch",
        ),
        Column(
            "controller_epoch",
            "INT",
            "epoch of the controller that decided; may lag, and run backwards in a migration",
            "payload.controller_epoch",
        ),
        Column(
            "leader_recovery_state",
            "INT",
            "1: recovering from an unclean election (3.2 and later); else 0",
            "IF(payload IS NULL, NULL, coalesce(payload.leader_recovery_state, 0))",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "topic", "partition"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "109"},
)
