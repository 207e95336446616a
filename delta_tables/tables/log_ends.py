"""log_ends: where the log of each partition started and ended, at any time."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table

TOPIC = Column("topic", "STRING", "name of the topic", required=True)
PARTITION = Column("partition", "INT", "number of the partition", required=True)
LOG_START_OFFSET = Column("log_start_offset", "BIGINT", "the first offset that is still there")
LOG_END_OFFSET = Column(
    "log_end_offset",
    "BIGINT",
    "the offset that the next record will get, as a consumer sees it (the high watermark)",
)

LOG_ENDS = Table(
    name="log_ends",
    grain="One row per sampling round in which the log of one partition changed: what that round "
    "found, and until when it held. After lag.full_hours, and in rounds with more changes than "
    "lag.points_per_round, one row a minute: its first values, and beside them its last.",
    folded="groups",
    columns=(
        CLUSTER,
        TOPIC,
        PARTITION,
        Column("incarnation", "BIGINT", "czxid of the topic at that time; null: not known"),
        Column("broker_id", "INT", "the leader that was asked; null: there was none"),
        LOG_START_OFFSET,
        LOG_END_OFFSET,
        Column(
            "error",
            "STRING",
            "why the offsets are not known, in Kafka's words (they are null then); OUT_OF_RANGE: "
            "what was said cannot be",
        ),
        Column("sampled_at", "TIMESTAMP", "the sampling round that first found this log end"),
        Column("confirmed_at", "TIMESTAMP", "the last round in which this log end held"),
        *VALIDITY_COLUMNS,
        Column("log_start_offset_last", "BIGINT", "log_start_offset at the end of the row's time"),
        Column(
            "log_end_offset_last",
            "BIGINT",
            "log_end_offset at the end of the row's time: another one only where several rounds "
            "are one row; null in rows of before zklake had it: as log_end_offset",
        ),
        Column("sampled_at_last", "TIMESTAMP", "the round that first found log_end_offset_last"),
        Column("confirmed_at_last", "TIMESTAMP", "the last round in which that one held"),
    ),
    key=("cluster", "topic", "partition"),
    ends=("changed", "deleted", "recreated", "resync"),
    partition_by=PARTITION_BY,
    retention_days=30,
    properties={"delta.checkpointInterval": "173"},
)
