"""Our own names for groups, and for the partitions of groups and topics."""

from __future__ import annotations

from typing import Any

from dashboard.metrics.family import Family, Shape
from dashboard.metrics.groups import Group, Partition
from dashboard.metrics.now import GroupNow
from dashboard.metrics.topics import Ends
from delta_tables.statuses import ORDER

_C = "cluster"
_GROUP_LABELS = ("coordinator", "group_id")
_SEVERITIES = ", ".join(f"{number} {word}" for number, word in enumerate(ORDER))


def _write_group(group: Group) -> tuple[object, ...]:
    return group.coordinator, group.group_id


def _write_partition(one: Partition) -> tuple[object, ...]:
    return one.coordinator, one.group_id, one.topic, one.partition


STATUS = Shape[tuple[str, int]]("status", ("status",), lambda one: (one[0],), _C)
TOPIC = Shape[Ends]("topic_ends", ("topic",), lambda one: (one.topic,), _C)
LOG = Shape[Ends]("log", ("topic", "partition"), lambda one: (one.topic, one.partition), _C)
GROUP = Shape[Group]("group", _GROUP_LABELS, _write_group, _C)
GROUP_NOW = Shape[GroupNow]("group_now", _GROUP_LABELS, lambda one: _write_group(one.group), _C)
PARTITION = Shape[Partition](
    "group_partition", (*_GROUP_LABELS, "topic", "partition"), _write_partition, _C
)

GROUPS: tuple[Family[Any], ...] = (
    Family(
        "zklake_group_lag",
        "Lag in records, over all partitions whose lag is known",
        GROUP,
        lambda one: one.sums.lag,
    ),
    Family(
        "zklake_group_max_lag",
        "Lag in records of the partition that is farthest behind",
        GROUP,
        lambda one: one.sums.max_lag,
    ),
    Family(
        "zklake_group_lag_seconds",
        "Time lag in seconds of the partition that is farthest behind in time",
        GROUP,
        lambda one: one.sums.lag_seconds,
    ),
    Family(
        "zklake_group_status",
        f"How the group is doing, by its worst partition: {_SEVERITIES}",
        GROUP,
        lambda one: one.sums.severity,
    ),
    Family("zklake_group_members", "Members of the group", GROUP, lambda one: one.members),
    Family(
        "zklake_group_partitions",
        "Partitions that the group has an offset or an owner on",
        GROUP,
        lambda one: one.sums.partitions,
    ),
    Family(
        "zklake_group_unowned_partitions",
        "Partitions of the group without an owner",
        GROUP,
        lambda one: one.sums.partitions - one.sums.owned,
    ),
    Family(
        "zklake_group_retention_used",
        "Lag as a share of the records that are still there (0 to 1), at its largest; at 1 data "
        "is lost",
        GROUP,
        lambda one: one.sums.retention_share,
    ),
    Family(
        "zklake_group_rebalances_total",
        "Rebalances since the lake began",
        GROUP,
        lambda one: one.rebalances,
        is_counter=True,
    ),
    Family(
        "zklake_group_failed_rebalances_total",
        "Rebalances after which partitions had no owner",
        GROUP,
        lambda one: one.failed_rebalances,
        is_counter=True,
    ),
    Family(
        "zklake_group_rebalance_seconds_total",
        "Time spent in rebalances that have ended; not known for groups stored in Kafka",
        GROUP,
        lambda one: one.rebalance_seconds,
        is_counter=True,
    ),
    Family(
        "zklake_group_commit_age_seconds",
        "Time from the group's last commit to the lake's last event",
        GROUP_NOW,
        lambda one: one.commit_age_seconds,
    ),
    Family(
        "zklake_groups",
        "Groups by status, including those that are not exported one by one",
        STATUS,
        lambda one: one[1],
    ),
)
PARTITIONS: tuple[Family[Any], ...] = (
    Family(
        "zklake_partition_lag",
        "Lag in records of one partition",
        PARTITION,
        lambda one: one.lag,
    ),
    Family(
        "zklake_partition_lag_seconds",
        "Time lag in seconds of one partition",
        PARTITION,
        lambda one: one.lag_seconds,
    ),
    Family(
        "zklake_partition_committed_offset",
        "The next offset that the group will read",
        PARTITION,
        lambda one: one.committed_offset,
    ),
    Family(
        "zklake_partition_status",
        f"How the group is doing on one partition: {_SEVERITIES}",
        PARTITION,
        lambda one: one.severity,
    ),
    Family(
        "zklake_log_end_offset",
        "The offset that the next record will get",
        LOG,
        lambda one: one.log_end_offset,
    ),
    Family(
        "zklake_log_start_offset",
        "The first offset in the log",
        LOG,
        lambda one: one.log_start_offset,
    ),
    Family(
        "zklake_topic_log_end_offset_sum",
        "The log ends of a topic's partitions, where all are known",
        TOPIC,
        lambda one: one.log_end_offset,
    ),
)
