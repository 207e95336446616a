"""The names of seglo/kafka-lag-exporter 0.8, with its labels; what it does not know is NaN."""

from __future__ import annotations

import math

from dashboard.metrics.family import Family, MetricSet, Shape
from dashboard.metrics.groups import Group, GroupTopic, Owner, Partition
from dashboard.metrics.topics import Ends

_C = "cluster_name"
_NOBODY = Owner("unknown", "unknown", "unknown")


def _write_partition(one: Partition) -> tuple[object, ...]:
    owner = one.owner or _NOBODY
    host, client_id = owner.host or "unknown", owner.client_id or "unknown"
    return one.group_id, one.topic, one.partition, host, owner.member_id, client_id


LOG = Shape[Ends]("log", ("topic", "partition"), lambda one: (one.topic, one.partition), _C)
PARTITION = Shape[Partition](
    "group_partition",
    ("group", "topic", "partition", "member_host", "consumer_id", "client_id"),
    _write_partition,
    _C,
)
GROUP = Shape[Group]("group", ("group",), lambda one: (one.group_id,), _C)
TOPIC = Shape[GroupTopic](
    "group_topic", ("group", "topic"), lambda one: (one.group_id, one.topic), _C
)
TAKEN = Shape[float]("taken_ms", (), lambda one: (), _C)


def _say(value: float | None) -> float:
    return math.nan if value is None else value


def _choose_value(group: Group, value: float | None) -> float | None:
    return _say(value) if group.sums.partitions else None


LAG_EXPORTER = MetricSet(
    name="lag_exporter",
    title="kafka-lag-exporter",
    says="What is not known is NaN, sums leave it out. `member_host`, `consumer_id` and "
    "`client_id` are `unknown` without `member_labels`, and where nobody owns the partition.",
    families=(
        Family(
            "kafka_partition_latest_offset",
            "Latest offset of a partition",
            LOG,
            lambda one: one.log_end_offset,
        ),
        Family(
            "kafka_partition_earliest_offset",
            "Earliest offset of a partition",
            LOG,
            lambda one: one.log_start_offset,
        ),
        Family(
            "kafka_consumergroup_group_offset",
            "Last group consumed offset of a partition",
            PARTITION,
            lambda one: _say(one.committed_offset),
        ),
        Family(
            "kafka_consumergroup_group_lag",
            "Group offset lag of a partition",
            PARTITION,
            lambda one: _say(one.lag),
        ),
        Family(
            "kafka_consumergroup_group_lag_seconds",
            "Group time lag of a partition",
            PARTITION,
            lambda one: _say(one.lag_seconds),
        ),
        Family(
            "kafka_consumergroup_group_max_lag",
            "Max group offset lag",
            GROUP,
            lambda one: _choose_value(one, one.sums.max_lag),
        ),
        Family(
            "kafka_consumergroup_group_max_lag_seconds",
            "Max group time lag",
            GROUP,
            lambda one: _choose_value(one, one.sums.lag_seconds),
        ),
        Family(
            "kafka_consumergroup_group_sum_lag",
            "Sum of group offset lag",
            GROUP,
            lambda one: _choose_value(one, one.sums.lag),
        ),
        Family(
            "kafka_consumergroup_group_topic_sum_lag",
            "Sum of group offset lag across topic partitions",
            TOPIC,
            lambda one: _say(one.sums.lag),
        ),
        Family(
            "kafka_consumergroup_poll_time_ms",
            "Group time poll time",
            TAKEN,
            lambda one: one,
        ),
    ),
)
