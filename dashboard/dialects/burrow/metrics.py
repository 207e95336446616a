"""The Prometheus names of linkedin/Burrow, with its labels and its own statuses, by its own rules.

How it judges a group is dashboard/dialects/burrow/evaluation.py; the same is at /v3/kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dashboard.dialects.burrow.evaluation import STATUS_CODES, GroupStatus, PartitionStatus
from dashboard.dialects.burrow.reading import read_groups
from dashboard.dialects.burrow.sight import LakeView
from dashboard.metrics.family import Family, MetricSet, Shape
from dashboard.metrics.groups import Group
from dashboard.metrics.snapshot import Things
from dashboard.metrics.topics import Ends
from dashboard.pulse import Pulse
from delta_tables.live.tables import Tables

# The last event is the moment at which it judges.
JUDGE_READS = (
    "consumer_offsets",
    "log_ends",
    "ownership_history",
    "consumer_membership",
    "znode_events",
)


class Judged(NamedTuple):
    """One partition of a group, as Burrow judges it."""

    group_id: str
    status: PartitionStatus


def judge(
    tables: Tables, groups: Iterable[Group], pulse: Pulse, is_wanted: Callable[[str], bool]
) -> Things:
    """What Burrow would say of these groups at the lake's last event."""
    if pulse.watermark_at is None:
        return {}
    sight = LakeView(tables.ask, tables.cluster, pulse.watermark_at)
    found = read_groups(sight, [group.group_id for group in groups]).values()
    statuses = [one for one in found if one.status != "NOTFOUND"]
    return {
        "burrow_group": statuses,
        "burrow_partition": [
            Judged(group.group_id, one)
            for group in statuses
            for one in group.partitions
            if is_wanted(one.topic)
        ],
    }


def _write_partition(one: Judged) -> tuple[object, ...]:
    return one.group_id, one.status.topic, one.status.partition


def _find_status(one: Judged) -> float | None:
    return STATUS_CODES[one.status.status] if one.status.complete == 1 else None


def _find_offset(one: Judged) -> float | None:
    end = one.status.end
    return end.offset if end is not None and one.status.complete == 1 else None


_C = "cluster"
LOG = Shape[Ends]("log", ("topic", "partition"), lambda one: (one.topic, one.partition), _C)
GROUP = Shape[GroupStatus]("burrow_group", ("consumer_group",), lambda one: (one.group_id,), _C)
PARTITION = Shape[Judged](
    "burrow_partition", ("consumer_group", "topic", "partition"), _write_partition, _C
)

BURROW = MetricSet(
    name="burrow",
    title="Burrow",
    says="By Burrow's rules, not by ours, at the lake's last event: "
    + ", ".join(f"{code} {status}" for status, code in STATUS_CODES.items())
    + ". A partition's status and offset are shown once its window is full.",
    families=(
        # A gauge, whatever its name says.
        Family(
            "burrow_kafka_consumer_lag_total",
            "The sum of all partition current lag values for the group",
            GROUP,
            lambda one: one.total_lag,
        ),
        Family(
            "burrow_kafka_consumer_status",
            "The status of the consumer group, from the worst of its partitions",
            GROUP,
            lambda one: STATUS_CODES[one.status],
        ),
        Family(
            "burrow_kafka_topic_partition_status",
            "The status of topic partition",
            PARTITION,
            _find_status,
        ),
        Family(
            "burrow_kafka_consumer_current_offset",
            "Latest offset that Burrow is storing for this partition",
            PARTITION,
            _find_offset,
        ),
        Family(
            "burrow_kafka_consumer_partition_lag",
            "Number of messages the consumer group is behind by for a partition",
            PARTITION,
            lambda one: one.status.current_lag,
        ),
        Family(
            "burrow_kafka_topic_partition_offset",
            "Latest offset of the topic for this partition",
            LOG,
            lambda one: one.log_end_offset,
        ),
    ),
)
