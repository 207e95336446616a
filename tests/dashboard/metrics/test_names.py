"""Names, types and labels, each as the exporter that is replaced has them (facts, peers (b))."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from dashboard.metrics.docs import describe
from dashboard.metrics.sets import SET_BY_NAME, SETS
from zklake.settings.metrics import SetName

GAUGE, COUNTER = "gauge", "counter"
Facts = dict[str, tuple[str, tuple[str, ...]]]

_OF_OWNER = ("member_host", "consumer_id", "client_id")
_PARTITION = ("cluster_name", "group", "topic", "partition", *_OF_OWNER)
LAG_EXPORTER: Facts = {
    "kafka_partition_latest_offset": (GAUGE, ("cluster_name", "topic", "partition")),
    "kafka_partition_earliest_offset": (GAUGE, ("cluster_name", "topic", "partition")),
    "kafka_consumergroup_group_offset": (GAUGE, _PARTITION),
    "kafka_consumergroup_group_lag": (GAUGE, _PARTITION),
    "kafka_consumergroup_group_lag_seconds": (GAUGE, _PARTITION),
    "kafka_consumergroup_group_max_lag": (GAUGE, ("cluster_name", "group")),
    "kafka_consumergroup_group_max_lag_seconds": (GAUGE, ("cluster_name", "group")),
    "kafka_consumergroup_group_sum_lag": (GAUGE, ("cluster_name", "group")),
    "kafka_consumergroup_group_topic_sum_lag": (GAUGE, ("cluster_name", "group", "topic")),
    "kafka_consumergroup_poll_time_ms": (GAUGE, ("cluster_name",)),
}

_INFO = ("group_id", "protocol", "protocol_type", "state", "coordinator_id")
_TOPIC_INFO = ("topic_name", "partition_count", "replication_factor", "cleanup_policy")
KMINION: Facts = {
    "kminion_exporter_up": (GAUGE, ("version",)),
    "kminion_exporter_offset_consumer_records_consumed_total": (COUNTER, ()),
    "kminion_kafka_cluster_info": (
        GAUGE,
        ("cluster_version", "broker_count", "controller_id", "cluster_id"),
    ),
    "kminion_kafka_broker_info": (
        GAUGE,
        ("broker_id", "address", "port", "rack_id", "is_controller"),
    ),
    "kminion_kafka_broker_log_dir_size_total_bytes": (
        GAUGE,
        ("broker_id", "address", "port", "rack_id"),
    ),
    "kminion_kafka_topic_log_dir_size_total_bytes": (GAUGE, ("topic_name",)),
    "kminion_kafka_topic_info": (GAUGE, _TOPIC_INFO),
    "kminion_kafka_topic_partition_low_water_mark": (GAUGE, ("topic_name", "partition_id")),
    "kminion_kafka_topic_partition_high_water_mark": (GAUGE, ("topic_name", "partition_id")),
    "kminion_kafka_topic_low_water_mark_sum": (GAUGE, ("topic_name",)),
    "kminion_kafka_topic_high_water_mark_sum": (GAUGE, ("topic_name",)),
    "kminion_kafka_consumer_group_info": (GAUGE, _INFO),
    "kminion_kafka_consumer_group_members": (GAUGE, ("group_id",)),
    "kminion_kafka_consumer_group_empty_members": (GAUGE, ("group_id",)),
    "kminion_kafka_consumer_group_topic_members": (GAUGE, ("group_id", "topic_name")),
    "kminion_kafka_consumer_group_topic_assigned_partitions": (GAUGE, ("group_id", "topic_name")),
    "kminion_kafka_consumer_group_topic_offset_sum": (GAUGE, ("group_id", "topic_name")),
    "kminion_kafka_consumer_group_topic_lag": (GAUGE, ("group_id", "topic_name")),
    "kminion_kafka_consumer_group_topic_partition_lag": (
        GAUGE,
        ("group_id", "topic_name", "partition_id"),
    ),
    "kminion_kafka_consumer_group_offset_commits_total": (COUNTER, ("group_id",)),
    # Eight names of a canary, which we cannot be.
    "kminion_end_to_end_*": (GAUGE, ()),
}

_LOG = ("topic", "partition")
_GROUP = ("consumergroup", "topic", "partition")
KAFKA_EXPORTER: Facts = {
    "kafka_brokers": (GAUGE, ()),
    "kafka_broker_info": (GAUGE, ("id", "address")),
    "kafka_topic_partitions": (GAUGE, ("topic",)),
    "kafka_topic_partition_current_offset": (GAUGE, _LOG),
    "kafka_topic_partition_oldest_offset": (GAUGE, _LOG),
    "kafka_topic_partition_leader": (GAUGE, _LOG),
    "kafka_topic_partition_replicas": (GAUGE, _LOG),
    "kafka_topic_partition_in_sync_replica": (GAUGE, _LOG),
    "kafka_topic_partition_leader_is_preferred": (GAUGE, _LOG),
    "kafka_topic_partition_under_replicated_partition": (GAUGE, _LOG),
    "kafka_consumergroup_current_offset": (GAUGE, _GROUP),
    "kafka_consumergroup_lag": (GAUGE, _GROUP),
    "kafka_consumergroup_current_offset_sum": (GAUGE, ("consumergroup", "topic")),
    "kafka_consumergroup_lag_sum": (GAUGE, ("consumergroup", "topic")),
    "kafka_consumergroup_members": (GAUGE, ("consumergroup",)),
    "kafka_consumergroupzookeeper_lag_zookeeper": (GAUGE, _GROUP),
}

_BURROW = ("cluster", "consumer_group", "topic", "partition")
BURROW: Facts = {
    "burrow_kafka_consumer_lag_total": (GAUGE, ("cluster", "consumer_group")),
    "burrow_kafka_consumer_status": (GAUGE, ("cluster", "consumer_group")),
    "burrow_kafka_topic_partition_status": (GAUGE, _BURROW),
    "burrow_kafka_consumer_current_offset": (GAUGE, _BURROW),
    "burrow_kafka_consumer_partition_lag": (GAUGE, _BURROW),
    "burrow_kafka_topic_partition_offset": (GAUGE, ("cluster", "topic", "partition")),
}
FACTS = {
    "lag_exporter": LAG_EXPORTER,
    "kminion": KMINION,
    "kafka_exporter": KAFKA_EXPORTER,
    "burrow": BURROW,
}


@pytest.mark.parametrize("name", FACTS)
def test_a_set_is_that_of_the_exporter_field_by_field(name: str) -> None:
    chosen = SET_BY_NAME[name]
    told = {
        family.name: (COUNTER if family.is_counter else GAUGE, family.shape.all_labels)
        for family in chosen.families
    }
    lacks = {one for one, _ in chosen.lacks}
    assert told == {one: fact for one, fact in FACTS[name].items() if one not in lacks}
    assert lacks <= FACTS[name].keys()


def test_no_name_is_in_two_sets() -> None:
    names = [family.name for one in SETS for family in one.families]
    assert len(names) == len(set(names))


def test_our_own_names_tell_the_cluster_and_are_counters_if_they_say_so() -> None:
    for family in SET_BY_NAME["zklake"].families:
        assert family.name.startswith("zklake_")
        assert family.shape.all_labels[0] == "cluster"
        assert family.is_counter == family.name.endswith("_total")


def test_the_settings_know_every_set() -> None:
    assert get_args(SetName) == tuple(SET_BY_NAME)


def test_the_document_is_up_to_date() -> None:
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    told = "run: python -m dashboard.metrics.docs > docs/metrics.md"
    assert page.read_text(encoding="utf-8") == describe(), told
