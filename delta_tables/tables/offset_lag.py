"""offset_lag: how far each group was behind on each partition, in which status, since when."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table
from delta_tables.tables.consumer_membership import COORDINATOR, GROUP_ID
from delta_tables.tables.log_ends import LOG_END_OFFSET, LOG_START_OFFSET, PARTITION, TOPIC

_REASON = (
    "why there is no lag: no_commit; no_offset (the commit says none, or could not be read); "
    "topic_gone; other_incarnation (the topic was created again after the commit); no_log_end "
    "(no broker reported it); or the error of log_ends. null: there is one"
)

OFFSET_LAG = Table(
    name="offset_lag",
    grain="One row per sampling round in which the lag of one group on one partition changed: what "
    "was known then, and until when it held. After lag.full_hours, and in rounds with more changes "
    "than lag.points_per_round, one row a minute, with the least, the most and the last of it; a "
    "change of status, owner, reason or incarnation (docs/status.md) is always a row.",
    folded="groups",
    columns=(
        CLUSTER,
        COORDINATOR,
        GROUP_ID,
        TOPIC,
        PARTITION,
        Column("incarnation", "BIGINT", "czxid of the topic; null: not known, or it is gone"),
        Column("owner", "STRING", "who owned the partition; null: nobody, or it is not known"),
        Column("owner_member_id", "STRING", "the member that owned it"),
        Column("committed_offset", "BIGINT", "next offset to read, by the commit that counted"),
        Column("committed_at", "TIMESTAMP", "when it was committed"),
        LOG_START_OFFSET,
        LOG_END_OFFSET,
        Column("sampled_at", "TIMESTAMP", "the last sampling round that vouched for the log end"),
        Column(
            "lag",
            "BIGINT",
            "records still to be read: the log end, asked for after the commit, less the committed "
            "offset; never negative; null: not known, see reason",
        ),
        Column("raw_lag", "BIGINT", "the same difference as it came out, also below 0"),
        Column("reason", "STRING", _REASON),
        Column(
            "lag_seconds",
            "DOUBLE",
            "time of the log still to be read: from when the log reached the committed offset to "
            "when it reached its end; it does not grow while nobody produces",
        ),
        Column("lag_seconds_error", "DOUBLE", "by how much it may be off; null: not known"),
        Column(
            "lag_quality",
            "STRING",
            "how lag_seconds was found: exact; interpolated between two samples; extrapolated "
            "beyond the oldest one; unknown",
        ),
        Column(
            "velocity",
            "DOUBLE",
            "records per second by which lag grows, since the end of the minute before; negative: "
            "catching up",
        ),
        Column("catch_up_seconds", "DOUBLE", "when it will be 0 at that pace; null: not falling"),
        Column("retention_share", "DOUBLE", "lag as a share of the records that are still there"),
        Column("lost_records", "BIGINT", "records that were gone before they were read"),
        Column(
            "loss_at",
            "TIMESTAMP",
            "when the log start will reach the committed offset at the present pace of both; null: "
            "not within a year",
        ),
        Column(
            "other_offset",
            "BIGINT",
            "what the same group committed at the other coordinator; null: nothing",
        ),
        Column("divergence", "BIGINT", "Kafka's offset less ZooKeeper's, where there are both"),
        Column(
            "status",
            "STRING",
            "OK, WARN, STALLED, STOPPED, REWIND, UNOWNED or ABANDONED (docs/status.md); null: not "
            "known",
        ),
        Column("status_since", "TIMESTAMP", "since when the cause of that status holds"),
        *VALIDITY_COLUMNS,
        Column(
            "lag_min",
            "BIGINT",
            "least lag in the row's time; as lag, where the row is one round; null in rows of "
            "before zklake had it: as lag (so all that follow)",
        ),
        Column("lag_max", "BIGINT", "largest lag in the row's time"),
        Column(
            "lag_mean",
            "DOUBLE",
            "mean lag, each value by the time for which it held; null while the row is open",
        ),
        Column("lag_last", "BIGINT", "lag at the end of the row's time: of an open row, now"),
        Column("lag_seconds_min", "DOUBLE", "least lag_seconds in the row's time"),
        Column("lag_seconds_max", "DOUBLE", "largest lag_seconds in the row's time"),
        Column("lag_seconds_last", "DOUBLE", "lag_seconds at the end of the row's time"),
        Column("committed_offset_last", "BIGINT", "committed_offset at the end of the row's time"),
        Column("committed_at_last", "TIMESTAMP", "when that one was committed"),
        Column("log_end_offset_last", "BIGINT", "log_end_offset at the end of the row's time"),
        Column("velocity_last", "DOUBLE", "velocity at the end of the row's time"),
        Column("points", "INT", "how many rounds that changed it are in the row"),
        Column("fold_state", "STRING", "what the fold must remember beyond the row (JSON)"),
    ),
    key=("cluster", "coordinator", "group_id", "topic", "partition"),
    ends=("changed", "deleted", "resync"),
    partition_by=PARTITION_BY,
    retention_days=30,
    properties={"delta.checkpointInterval": "179"},
)
