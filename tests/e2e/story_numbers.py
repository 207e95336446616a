"""What every metric must say of a cluster, by what its brokers and ZooKeeper say of it now.

Names and labels are those of facts/peers.md (b), as tests/dashboard/metrics/test_names.py has them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from tests.dashboard.metrics.reading import Scraped
from tests.e2e.live_truth import LiveTruth, Place

K = TypeVar("K")
# By what the labels say, each written as text.
Values = Mapping[Any, float]
# By name: the labels that tell its series apart here, and what each says.
Wanted = Iterator[tuple[str, tuple[str, ...], Values]]

_GROUP_LABELS = {
    "lag_exporter": ("group", "topic", "partition"),
    "kminion": ("group_id", "topic_name", "partition_id"),
    "kafka_exporter": ("consumergroup", "topic", "partition"),
    "burrow": ("consumer_group", "topic", "partition"),
}


def list_cluster_numbers(live: LiveTruth) -> Wanted:
    """Brokers, the controller, topics and partitions."""
    count, controller = len(live.brokers), live.controller_id
    yield "zklake_brokers", (), {(): count}
    yield "kafka_brokers", (), {(): count}
    yield "zklake_broker_up", ("broker_id",), {(one,): 1 for one in live.brokers}
    yield "kafka_broker_info", ("id", "address"), dict.fromkeys(live.brokers.items(), 1)
    yield (
        "kminion_kafka_broker_info",
        ("broker_id", "address", "port", "is_controller"),
        {
            (one, *address.rsplit(":", 1), str(one == controller).lower()): 1
            for one, address in live.brokers.items()
        },
    )
    yield "zklake_controller_id", (), {(): controller}
    labels = ("broker_count", "controller_id")
    yield "kminion_kafka_cluster_info", labels, {(count, controller): 1}
    partitions = {(topic,): len(numbers) for topic, numbers in live.topics.items()}
    yield "kafka_topic_partitions", ("topic",), partitions
    yield (
        "kminion_kafka_topic_info",
        ("topic_name", "partition_count", "replication_factor"),
        {(*one, many, len(live.topics[one[0]][0].replicas)): 1 for one, many in partitions.items()},
    )


def list_replica_numbers(live: LiveTruth) -> Wanted:
    """Who leads, and who follows."""
    states = {
        (topic, number): one
        for topic, numbers in live.topics.items()
        for number, one in numbers.items()
    }
    under = {log: len(one.isrs) < len(one.replicas) for log, one in states.items()}
    first = {log: one.leader == one.replicas[0] for log, one in states.items()}
    for name, values in (
        ("leader", {log: one.leader for log, one in states.items()}),
        ("replicas", {log: len(one.replicas) for log, one in states.items()}),
        ("in_sync_replica", {log: len(one.isrs) for log, one in states.items()}),
        ("leader_is_preferred", first),
        ("under_replicated_partition", under),
    ):
        yield f"kafka_topic_partition_{name}", ("topic", "partition"), values


def list_log_numbers(live: LiveTruth) -> Wanted:
    """Where logs begin and end."""
    log, kminion = ("topic", "partition"), ("topic_name", "partition_id")
    for name in (
        "zklake_log_end_offset",
        "kafka_partition_latest_offset",
        "kafka_topic_partition_current_offset",
        "burrow_kafka_topic_partition_offset",
    ):
        yield name, log, live.ends
    yield "kminion_kafka_topic_partition_high_water_mark", kminion, live.ends
    for name in (
        "zklake_log_start_offset",
        "kafka_partition_earliest_offset",
        "kafka_topic_partition_oldest_offset",
    ):
        yield name, log, live.starts
    yield "kminion_kafka_topic_partition_low_water_mark", kminion, live.starts
    ends = _sum_by(live.ends, lambda place: place[:1])
    yield "zklake_topic_log_end_offset_sum", ("topic",), ends
    yield "kminion_kafka_topic_high_water_mark_sum", ("topic_name",), ends
    starts = _sum_by(live.starts, lambda place: place[:1])
    yield "kminion_kafka_topic_low_water_mark_sum", ("topic_name",), starts


def list_group_numbers(live: LiveTruth, strange: set[Place]) -> Wanted:
    """Offsets and lag; `strange` places have a commit to another topic of that name."""
    committed = {place: one for place, one in live.merge().items() if place[1:] in live.ends}
    raw = {one: live.ends[one[1:]] - at for one, at in committed.items() if one not in strange}
    lag = {place: max(0, one) for place, one in raw.items()}
    untouched = {
        (group, *log): -1
        for group, topic in {place[:2] for place in committed}
        for log in live.ends
        if log[0] == topic and (group, *log) not in committed
    }
    yield "kafka_consumergroup_group_offset", _GROUP_LABELS["lag_exporter"], committed
    yield "kafka_consumergroup_group_lag", _GROUP_LABELS["lag_exporter"], lag
    yield "kminion_kafka_consumer_group_topic_partition_lag", _GROUP_LABELS["kminion"], lag
    labels = _GROUP_LABELS["kafka_exporter"]
    yield "kafka_consumergroup_current_offset", labels, {**committed, **untouched}
    yield "kafka_consumergroup_lag", labels, {**raw, **untouched}
    of_burrow = {place: one for place, one in lag.items() if place not in live.both}
    yield "burrow_kafka_consumer_partition_lag", _GROUP_LABELS["burrow"], of_burrow
    by_topic = _sum_by({**committed, **untouched}, lambda place: place[:2])
    yield "kafka_consumergroup_current_offset_sum", labels[:2], by_topic
    yield "kafka_consumergroup_lag_sum", labels[:2], _sum_by(raw, lambda place: place[:2])
    topic_labels, sums = _GROUP_LABELS["kminion"][:2], _sum_by(lag, lambda place: place[:2])
    yield "kminion_kafka_consumer_group_topic_lag", topic_labels, sums
    sums = _sum_by(committed, lambda place: place[:2])
    yield "kminion_kafka_consumer_group_topic_offset_sum", topic_labels, sums
    yield (
        "kafka_consumergroup_group_topic_sum_lag",
        ("group", "topic"),
        _sum_by(lag, lambda place: place[:2]),
    )
    yield "kafka_consumergroup_group_sum_lag", ("group",), _sum_by(lag, lambda place: place[:1])
    most: dict[tuple[object, ...], float] = {}
    for place, one in lag.items():
        most[place[:1]] = max(one, most.get(place[:1], 0))
    yield "kafka_consumergroup_group_max_lag", ("group",), most


def list_own_numbers(live: LiveTruth, strange: set[Place]) -> Wanted:
    """The same under our own names: by coordinator."""
    committed = {
        (coordinator, *place): offset
        for coordinator, offsets in live.committed.items()
        for place, offset in offsets.items()
        if place[1:] in live.ends
    }
    lag = {
        one: max(0, live.ends[one[2:]] - offset)
        for one, offset in committed.items()
        if one[1:] not in strange
    }
    labels = ("coordinator", "group_id", "topic", "partition")
    yield "zklake_partition_committed_offset", labels, committed
    yield "zklake_partition_lag", labels, lag
    yield "zklake_group_lag", labels[:2], _sum_by(lag, lambda place: place[:2])
    of_zookeeper = {
        one[1:]: live.ends[one[2:]] - offset
        for one, offset in committed.items()
        if one[0] == "zookeeper" and one[1:] not in strange
    }
    name = "kafka_consumergroupzookeeper_lag_zookeeper"
    yield name, _GROUP_LABELS["kafka_exporter"], of_zookeeper


def list_member_numbers(live: LiveTruth) -> Wanted:
    """Of groups that have members."""
    members = {kept: count for kept, count in live.members.items() if count}
    yield "zklake_group_members", ("coordinator", "group_id"), members
    merged = _sum_by(members, lambda kept: kept[1:])
    yield "kafka_consumergroup_members", ("consumergroup",), merged
    yield "kminion_kafka_consumer_group_members", ("group_id",), merged


def list_numbers(live: LiveTruth, strange: set[Place]) -> Wanted:
    """All of it."""
    yield from list_cluster_numbers(live)
    yield from list_replica_numbers(live)
    yield from list_log_numbers(live)
    yield from list_group_numbers(live, strange)
    yield from list_own_numbers(live, strange)
    yield from list_member_numbers(live)


def find_wrong_numbers(found: Scraped, live: LiveTruth, strange: set[Place]) -> Iterator[str]:
    """What is told otherwise, or not told, or told and not so."""
    for name, labels, values in list_numbers(live, strange):
        told = found.table(name, *labels)
        truth = {tuple(map(str, key)): float(value) for key, value in values.items()}
        assert truth, f"{name}: the story has nothing of it"
        for key in sorted(told.keys() | truth.keys()):
            given = dict(zip(labels, key, strict=True))
            is_known = key in truth or not _is_unknown(given, told[key], live, strange)
            if is_known and told.get(key) != truth.get(key):
                yield f"{name} {given}: {told.get(key)}, not {truth.get(key)}"


def _is_unknown(
    given: Mapping[str, str], value: float, live: LiveTruth, strange: set[Place]
) -> bool:
    """Whether there is no truth of it: nothing is told, or it is of a topic that is not there."""
    names = zip(*_GROUP_LABELS.values(), strict=True)
    group, topic, partition = (_pick(given, one) for one in names)
    if math.isnan(value) or value == 0 or (topic and topic not in live.topics):
        return True
    return bool(partition) and (group, topic, int(partition)) in strange | live.both


def _pick(given: Mapping[str, str], names: Iterable[str]) -> str:
    return next((given[name] for name in names if name in given), "")


def _sum_by(values: Mapping[K, float], key: Callable[[K], tuple[object, ...]]) -> Values:
    sums: dict[tuple[object, ...], float] = defaultdict(float)
    for place, value in values.items():
        sums[key(place)] += value
    return sums
