"""admin_operations: what operators asked of the controller, from the request until it was done.

Requests stand under /admin. A reassignment that was asked for by the API (2.4 and later) leaves no
request: the topic's adding and removing replicas show it. One that shows in both is one row.
A deletion is refused when its request goes and the topic stays: delete.topic.enable is false.
"""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, LIFE_COLUMNS, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table

ADMIN_OPERATIONS = Table(
    name="admin_operations",
    grain="One row per operation on one partition (reassignment, election) or topic (deletion).",
    folded="steps",
    kinds=("reassignment", "preferred_election", "topic_deletion", "topic"),
    columns=(
        CLUSTER,
        Column(
            "operation",
            "STRING",
            "reassignment, preferred_election or topic_deletion",
            required=True,
        ),
        Column("topic", "STRING", "name of the topic; null: the request could not be read"),
        Column("partition", "INT", "number of the partition; null for a topic_deletion"),
        Column(
            "replicas",
            "ARRAY<INT>",
            "reassignment: the replicas that it shall have, the preferred leader first",
        ),
        Column(
            "adding_replicas",
            "ARRAY<INT>",
            "reassignment: replicas that are added, as the topic last said; null: it never did",
        ),
        Column(
            "removing_replicas",
            "ARRAY<INT>",
            "reassignment: replicas that are removed, as the topic last said; null: it never did",
        ),
        Column(
            "is_inferred",
            "BOOLEAN",
            "whether only the replicas of the topic showed it: asked for by the API, which leaves "
            "no request under /admin",
            required=True,
        ),
        *LIFE_COLUMNS,
        *VALIDITY_COLUMNS,
        Column("fold_state", "STRING", "what the fold must remember beyond the row (JSON)"),
    ),
    key=("cluster", "operation", "topic", "partition"),
    ends=(
        *("finished", "refused", "cancelled", "deleted", "changed", "recreated", "unreadable"),
        "resync",
    ),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "139"},
)
