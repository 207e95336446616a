"""The names of redpanda-data/kminion, with its labels; what is not known is no sample."""

from __future__ import annotations

from dashboard.metrics.cluster import Broker, Cluster
from dashboard.metrics.family import Family, MetricSet, Shape
from dashboard.metrics.groups import Commits, Group, GroupTopic, Partition
from dashboard.metrics.topics import Ends, Topic
from dashboard.pulse import Pulse
from zklake import __version__

_UNKNOWN_ID = -1


def _write_cluster(one: Cluster) -> tuple[object, ...]:
    controller = _UNKNOWN_ID if one.controller_id is None else one.controller_id
    # ZooKeeper does not say which version the brokers are of.
    return "unknown", one.brokers or 0, controller, one.cluster_id or ""


def _write_broker(one: Broker) -> tuple[object, ...]:
    return one.broker_id, one.host, one.port, one.rack, str(one.is_controller).lower()


def _write_topic(one: Topic) -> tuple[object, ...]:
    partitions = one.partition_count or 0
    factor = _UNKNOWN_ID if one.replication_factor is None else one.replication_factor
    return one.topic, partitions, factor, one.cleanup_policy or "N/A"


def _find_state(group: Group) -> str:
    if group.is_rebalancing:
        return "PreparingRebalance"
    return "Stable" if group.members else "Empty"


def _write_group(one: Group) -> tuple[object, ...]:
    # Neither the assignor nor the coordinating broker is in the tables.
    return one.group_id, "", "consumer", _find_state(one), _UNKNOWN_ID


def _find_idle(one: Group) -> float | None:
    # kminion is silent where every member has something to do.
    return max(0, one.members - one.sums.owners) or None


UP = Shape[Pulse]("pulse", ("version",), lambda one: (__version__,))
CLUSTER = Shape[Cluster](
    "cluster", ("cluster_version", "broker_count", "controller_id", "cluster_id"), _write_cluster
)
BROKER = Shape[Broker](
    "broker", ("broker_id", "address", "port", "rack_id", "is_controller"), _write_broker
)
TOPIC = Shape[Topic](
    "topic", ("topic_name", "partition_count", "replication_factor", "cleanup_policy"), _write_topic
)
LOG = Shape[Ends]("log", ("topic_name", "partition_id"), lambda one: (one.topic, one.partition))
TOPIC_ENDS = Shape[Ends]("topic_ends", ("topic_name",), lambda one: (one.topic,))
GROUP_INFO = Shape[Group](
    "group", ("group_id", "protocol", "protocol_type", "state", "coordinator_id"), _write_group
)
GROUP = Shape[Group]("group", ("group_id",), lambda one: (one.group_id,))
COMMITS = Shape[Commits]("group_commits", ("group_id",), lambda one: (one.group_id,))
GROUP_TOPIC = Shape[GroupTopic](
    "group_topic", ("group_id", "topic_name"), lambda one: (one.group_id, one.topic)
)
PARTITION = Shape[Partition](
    "group_partition",
    ("group_id", "topic_name", "partition_id"),
    lambda one: (one.group_id, one.topic, one.partition),
)

_DISKS = "how full the brokers' disks are is not in ZooKeeper, and is not sampled"
_COMMITS = "of the commits that Kafka keeps only the last of an interval is sampled"
_CANARY = "we write nothing into the watched cluster, so there is no canary"

KMINION = MetricSet(
    name="kminion",
    title="KMinion",
    says="`coordinator_id` is -1, `protocol` empty and `cluster_version` `unknown`: the tables do "
    "not know them. `cleanup_policy` is `N/A` where the topic does not set it. A topic's sums are "
    "shown where every partition's log is known.",
    families=(
        Family(
            "kminion_exporter_up",
            "Build info about this exporter; 0 while the lake is stale",
            UP,
            lambda one: one.watermark_at is not None and not one.is_stale,
        ),
        Family("kminion_kafka_cluster_info", "Kafka cluster information", CLUSTER, lambda one: 1),
        Family("kminion_kafka_broker_info", "Kafka broker information", BROKER, lambda one: 1),
        Family("kminion_kafka_topic_info", "Info labels for a given topic", TOPIC, lambda one: 1),
        Family(
            "kminion_kafka_topic_partition_low_water_mark",
            "Partition low water mark",
            LOG,
            lambda one: one.log_start_offset,
        ),
        Family(
            "kminion_kafka_topic_partition_high_water_mark",
            "Partition high water mark",
            LOG,
            lambda one: one.log_end_offset,
        ),
        Family(
            "kminion_kafka_topic_low_water_mark_sum",
            "Sum of all the topic's partition low water marks",
            TOPIC_ENDS,
            lambda one: one.log_start_offset,
        ),
        Family(
            "kminion_kafka_topic_high_water_mark_sum",
            "Sum of all the topic's partition high water marks",
            TOPIC_ENDS,
            lambda one: one.log_end_offset,
        ),
        Family(
            "kminion_kafka_consumer_group_info",
            "Consumer group info; 1 if the group is in the stable state, otherwise 0",
            GROUP_INFO,
            lambda one: _find_state(one) == "Stable",
        ),
        Family(
            "kminion_kafka_consumer_group_members",
            "Members of the consumer group",
            GROUP,
            lambda one: one.members,
        ),
        Family(
            "kminion_kafka_consumer_group_empty_members",
            "Members of the consumer group with no partition assigned, where there are any",
            GROUP,
            _find_idle,
        ),
        Family(
            "kminion_kafka_consumer_group_topic_members",
            "Members of the consumer group that are assigned on a given topic",
            GROUP_TOPIC,
            lambda one: one.sums.owners or None,
        ),
        Family(
            "kminion_kafka_consumer_group_topic_assigned_partitions",
            "Partitions that are assigned in the consumer group for a given topic",
            GROUP_TOPIC,
            lambda one: one.sums.owned or None,
        ),
        Family(
            "kminion_kafka_consumer_group_topic_offset_sum",
            "The sum of all committed group offsets across all partitions in a topic",
            GROUP_TOPIC,
            lambda one: one.sums.committed,
        ),
        Family(
            "kminion_kafka_consumer_group_topic_partition_lag",
            "Messages the consumer group is behind the latest offset of a partition",
            PARTITION,
            lambda one: one.lag,
        ),
        Family(
            "kminion_kafka_consumer_group_topic_lag",
            "Messages the consumer group is behind across all partitions in a topic",
            GROUP_TOPIC,
            lambda one: one.sums.lag,
        ),
        Family(
            "kminion_kafka_consumer_group_offset_commits_total",
            "Commits of the consumer group, of each partition, while ZooKeeper keeps its offsets",
            COMMITS,
            lambda one: one.commits,
            is_counter=True,
        ),
    ),
    lacks=(
        ("kminion_kafka_broker_log_dir_size_total_bytes", _DISKS),
        ("kminion_kafka_topic_log_dir_size_total_bytes", _DISKS),
        ("kminion_exporter_offset_consumer_records_consumed_total", _COMMITS),
        ("kminion_end_to_end_*", _CANARY),
    ),
)
