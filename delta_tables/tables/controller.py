"""controller: which broker was the controller, at which epoch, and when none was."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.table import ZNODE_ENDS, Column, Table

CONTROLLER = Table(
    name="controller",
    grain="One row per term of one controller; a row without controller_id: there was none.",
    folded="steps",
    kinds=("controller", "controller_epoch"),
    columns=(
        CLUSTER,
        Column(
            "controller_id",
            "INT",
            "broker that holds /controller; in a KRaft migration an id that is no broker's",
        ),
        Column(
            "controller_epoch",
            "INT",
            "value of /controller_epoch that goes with this term",
        ),
        Column(
            "kraft_controller_epoch",
            "INT",
            "above 0: a KRaft controller is active, the cluster migrates; -1: a broker is",
        ),
        Column(
            "registered_at", "TIMESTAMP", "timestamp inside /controller: the broker's own clock"
        ),
        Column(SESSION.name, SESSION.type, SESSION.comment),
        *INTERVAL_COLUMNS,
        Column("fold_state", "STRING", "what the fold must remember beyond the row (JSON)"),
    ),
    key=("cluster",),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "131"},
)
