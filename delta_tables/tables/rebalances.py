"""rebalances: when a group divided its partitions anew, why, and what it cost."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table
from delta_tables.tables.consumer_membership import COORDINATOR, GROUP_ID

_TRIGGER = (
    "why: member_joined; member_left; session_ended (a member's session ended: see trigger_exit); "
    "partitions_added; topic_changed (its znode was written, or what Kafka assigned differs); "
    "topic_matched (a topic that a wildcard takes in came or went); "
    "owner_released (an owner let go, and no trigger was seen); unknown"
)

REBALANCES = Table(
    name="rebalances",
    grain="One row per rebalance of one group (docs/rebalances.md).",
    folded="groups",
    columns=(
        CLUSTER,
        COORDINATOR,
        GROUP_ID,
        Column("trigger", "STRING", _TRIGGER, required=True),
        Column("trigger_member_id", "STRING", "the member that triggered it; null: none did"),
        Column("trigger_topic", "STRING", "the topic that triggered it; null: none did"),
        Column(
            "trigger_exit",
            "STRING",
            "how that member left, where its session ended: clean, crashed or unknown, as exit of "
            "consumer_membership says",
        ),
        Column("triggers", "ARRAY<STRING>", "all its triggers in order, each once"),
        Column("generation", "INT", "kafka: the generation that it led to; null for zookeeper"),
        Column("members_before", "INT", "members before it began"),
        Column("members_after", "INT", "members when it ended; null while open"),
        Column(
            "attempts",
            "INT",
            "zookeeper: rounds of claiming by the busiest session, 0 if nobody claimed; a lower "
            "bound, for a try of which every claim is refused leaves no trace. kafka: generations "
            "since the last one seen, if more than one",
        ),
        Column(
            "conflicts",
            "INT",
            "claims given back by a live session because another was refused; a lower bound, for a "
            "refused claim leaves no trace. null for kafka",
        ),
        Column("partitions", "INT", "partitions that had to be owned when it ended"),
        Column("moved", "INT", "partitions that went from one member to another"),
        Column("reacquired", "INT", "partitions that their member let go and claimed again"),
        Column(
            "left_unowned",
            "INT",
            "partitions without an owner at its end; where the last member left: all they had",
        ),
        Column(
            "unowned_ms",
            "BIGINT",
            "time without an owner within it, as observed, summed over partitions; null where a "
            "gap hid some of it, and for kafka",
        ),
        Column("max_unowned_ms", "BIGINT", "the same of the partition that waited longest"),
        Column(
            "unowned",
            "MAP<STRING, BIGINT>",
            "the same by topic-partition, of those that waited at all",
        ),
        Column("duration_ms", "BIGINT", "valid_to_at - valid_from_at; null while open, and kafka"),
        Column(
            "outcome",
            "STRING",
            "settled: every partition has an owner again, or nobody is left; failed: some have "
            "none, and nobody tries any more; ongoing",
            required=True,
        ),
        *VALIDITY_COLUMNS,
        Column("fold_state", "STRING", "what the fold must remember beyond the row (JSON)"),
    ),
    key=("cluster", "coordinator", "group_id"),
    ends=("settled", "failed"),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "167"},
)
