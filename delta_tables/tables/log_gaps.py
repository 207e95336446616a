"""log_gaps: when the watcher could not see, and what is missing from the log itself."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table

LOG_GAPS = Table(
    name="log_gaps",
    grain="One row per time in which changes could pass unseen, or hole in the log's seq.",
    folded="steps",
    columns=(
        CLUSTER,
        Column("gap_id", "STRING", "id of the gap in the log", required=True),
        Column("reason", "STRING", "why changes could pass unseen: see docs/events.md"),
        Column("path", "STRING", "only the children of this znode; null: the whole tree"),
        Column("coalescing", "BOOLEAN", "whether one-shot watches merged several changes into one"),
        Column("lives", "BIGINT", "znodes that are known to have come and gone unseen"),
        Column("missed", "BIGINT", "records that are missing from the log (seq_hole)"),
        *VALIDITY_COLUMNS,
    ),
    key=("cluster", "gap_id"),
    ends=("in_sync",),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "137"},
)
