"""The names of danielqsj/kafka_exporter, with its labels; no offset is -1, lag may be negative."""

from __future__ import annotations

from typing import Any

from dashboard.metrics.cluster import Broker, Cluster
from dashboard.metrics.family import Family, MetricSet, Shape
from dashboard.metrics.groups import Group, GroupTopic, Partition
from dashboard.metrics.topics import Ends, Replicas, Topic

_NO_OFFSET = -1
_LOG_LABELS = ("topic", "partition")
_GROUP_LABELS = ("consumergroup", "topic", "partition")


def _write_partition(one: Partition) -> tuple[object, ...]:
    return one.group_id, one.topic, one.partition


def _find_offset(one: Partition) -> float | None:
    # Of a topic that the group does not read at all, it shows nothing.
    if not one.is_consumed:
        return None
    return _NO_OFFSET if one.committed_offset is None else one.committed_offset


def _find_lag(one: Partition) -> float | None:
    if not one.is_consumed:
        return None
    return _NO_OFFSET if one.committed_offset is None else one.raw_lag


def _sum_offsets(one: GroupTopic) -> float | None:
    # The exporter adds up what it shows, each -1 among it.
    if one.sums.committed is None:
        return None
    return one.sums.committed + _NO_OFFSET * one.sums.uncommitted


CLUSTER = Shape[Cluster]("cluster", (), lambda one: ())
BROKER = Shape[Broker](
    "broker", ("id", "address"), lambda one: (one.broker_id, f"{one.host}:{one.port}")
)
TOPIC = Shape[Topic]("topic", ("topic",), lambda one: (one.topic,))
LOG = Shape[Ends]("log", _LOG_LABELS, lambda one: (one.topic, one.partition))
REPLICAS = Shape[Replicas]("replicas", _LOG_LABELS, lambda one: (one.topic, one.partition))
PARTITION = Shape[Partition]("group_partition", _GROUP_LABELS, _write_partition)
GROUP_TOPIC = Shape[GroupTopic](
    "group_topic", ("consumergroup", "topic"), lambda one: (one.group_id, one.topic)
)
GROUP = Shape[Group]("group", ("consumergroup",), lambda one: (one.group_id,))

_TOPICS: tuple[Family[Any], ...] = (
    Family(
        "kafka_topic_partitions",
        "Number of partitions for this Topic",
        TOPIC,
        lambda one: one.partition_count,
    ),
    Family(
        "kafka_topic_partition_current_offset",
        "Current Offset of a Broker at Topic/Partition",
        LOG,
        lambda one: one.log_end_offset,
    ),
    Family(
        "kafka_topic_partition_oldest_offset",
        "Oldest Offset of a Broker at Topic/Partition",
        LOG,
        lambda one: one.log_start_offset,
    ),
    Family(
        "kafka_topic_partition_leader",
        "Leader Broker ID of this Topic/Partition",
        REPLICAS,
        lambda one: one.leader,
    ),
    Family(
        "kafka_topic_partition_replicas",
        "Number of Replicas for this Topic/Partition",
        REPLICAS,
        lambda one: one.replicas,
    ),
    Family(
        "kafka_topic_partition_in_sync_replica",
        "Number of In-Sync Replicas for this Topic/Partition",
        REPLICAS,
        lambda one: one.in_sync,
    ),
    Family(
        "kafka_topic_partition_leader_is_preferred",
        "1 if Topic/Partition is using the Preferred Broker",
        REPLICAS,
        lambda one: bool(one.is_preferred_leader),
    ),
    Family(
        "kafka_topic_partition_under_replicated_partition",
        "1 if Topic/Partition is under Replicated",
        REPLICAS,
        lambda one: bool(one.is_under_replicated),
    ),
)
_GROUPS: tuple[Family[Any], ...] = (
    Family(
        "kafka_consumergroup_current_offset",
        "Current Offset of a ConsumerGroup at Topic/Partition",
        PARTITION,
        _find_offset,
    ),
    Family(
        "kafka_consumergroup_current_offset_sum",
        "Current Offset of a ConsumerGroup at Topic for all partitions",
        GROUP_TOPIC,
        _sum_offsets,
    ),
    Family(
        "kafka_consumergroup_lag",
        "Current Approximate Lag of a ConsumerGroup at Topic/Partition",
        PARTITION,
        _find_lag,
    ),
    Family(
        "kafka_consumergroup_lag_sum",
        "Current Approximate Lag of a ConsumerGroup at Topic for all partitions",
        GROUP_TOPIC,
        lambda one: one.sums.raw_lag,
    ),
    Family(
        "kafka_consumergroup_members",
        "Amount of members in a consumer group",
        GROUP,
        lambda one: one.members,
    ),
    Family(
        "kafka_consumergroupzookeeper_lag_zookeeper",
        "Current Approximate Lag(zookeeper) of a ConsumerGroup at Topic/Partition",
        PARTITION,
        lambda one: one.zookeeper_lag,
    ),
)

KAFKA_EXPORTER = MetricSet(
    name="kafka_exporter",
    title="kafka_exporter",
    says="Offset and lag are -1 where the group has an offset on other partitions of the topic, "
    "but none on this one; lag is no sample where the log end is not known, and may be below 0. "
    "`current_offset_sum` adds up each -1, `lag_sum` leaves it out. Groups that ZooKeeper keeps "
    "are shown under the names of Kafka's groups too.",
    is_filled=True,
    families=(
        Family(
            "kafka_brokers",
            "Number of Brokers in the Kafka Cluster",
            CLUSTER,
            lambda one: one.brokers,
        ),
        Family("kafka_broker_info", "Information about the Kafka Broker", BROKER, lambda one: 1),
        *_TOPICS,
        *_GROUPS,
    ),
)
