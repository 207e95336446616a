"""partition_state: who led and replicated each partition, at which epoch."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.observation import number_of_path, of_path, of_payload
from delta_tables.table import ZNODE_ENDS, Column, Table

PARTITION_STATE = Table(
    name="partition_state",
    grain="One row per state of one partition (/brokers/topics/[topic]/partitions/[p]/state).",
    folded="intervals",
    kinds=("partition_state",),
    columns=(
        CLUSTER,
        Column("topic", "STRING", "name of the topic", of_path(3), required=True),
        Column(
            "partition",
            "INT",
            "number of the partition",
            number_of_path(5),
            required=True,
        ),
        Column("leader", "INT", "broker that leads; -1: none does", of_payload("leader")),
        Column(
            "isr",
            "ARRAY<INT>",
            "brokers in sync; never empty, so the last of them may be dead",
            of_payload("isr"),
        ),
        Column(
            "leader_epoch",
            "INT",
            "grows with every decision of a controller, also without a change of leader",
            of_payload("leader_epoch"),
        ),
        Column(
            "controller_epoch",
            "INT",
            "epoch of the controller that decided; may lag, and run backwards in a migration",
            of_payload("controller_epoch"),
        ),
        Column(
            "leader_recovery_state",
            "INT",
            "1: recovering from an unclean election (3.2 and later); else 0",
            of_payload("leader_recovery_state"),
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "topic", "partition"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "109"},
)
