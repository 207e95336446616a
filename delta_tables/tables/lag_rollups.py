"""lag_rollups: how each partition's lag went, in buckets, for as long as anybody asks.

Made from closed days of offset_lag (streaming/maintenance/rollups.py) by the view lag_history, so
that a day reads the same before and after.
"""

from __future__ import annotations

from delta_tables.table import Column, Table

LAG_ROLLUPS = Table(
    name="lag_rollups",
    grain="One row per bucket of 5 minutes or an hour in which the lag of one partition changed, "
    "and per first bucket of a day.",
    columns=(
        Column("cluster", "STRING", "name of the watched cluster", required=True),
        Column("coordinator", "STRING", "who keeps the group: zookeeper or kafka", required=True),
        Column("group_id", "STRING", "group.id", required=True),
        Column("topic", "STRING", "name of the topic", required=True),
        Column("partition", "INT", "number of the partition", required=True),
        Column("width_s", "INT", "seconds that the bucket is wide: 300 or 3600", required=True),
        Column("bucket_at", "TIMESTAMP", "when the bucket begins", required=True),
        Column("min_lag", "BIGINT", "least lag in it; null: never known"),
        Column("max_lag", "BIGINT", "largest lag in it"),
        Column("last_lag", "BIGINT", "lag at its end; null: not known then, or no longer followed"),
        Column("mean_lag", "DOUBLE", "mean lag, each value by the time for which it held"),
        Column("max_lag_seconds", "DOUBLE", "largest lag_seconds in it"),
        Column(
            "worst_status",
            "STRING",
            "OK < WARN < REWIND < ABANDONED < UNOWNED < STALLED < STOPPED",
        ),
        Column("points", "INT", "rounds in it that changed the lag", required=True),
        Column("day", "DATE", "UTC date of bucket_at", required=True),
        Column("min_lag_seconds", "DOUBLE", "least lag_seconds in it"),
        Column("last_lag_seconds", "DOUBLE", "lag_seconds at its end; null: not known then"),
    ),
    key=("cluster", "coordinator", "group_id", "topic", "partition", "width_s", "bucket_at"),
    partition_by=("day",),
    properties={"delta.checkpointInterval": "191"},
)
