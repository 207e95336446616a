"""The public Grafana dashboards of the other exporters find their series at /metrics/<set>.

Which names and labels each asks for was read (facts; no text of theirs is here) from:
7589 `kafka_exporter_overview.json` of danielqsj/kafka_exporter; `Kafka_Lag_Exporter_Dashboard.json`
of seglo/kafka-lag-exporter; 14012 and 14013 as igorpetutin/eks_grafana keeps them; and, as Burrow
has none of its own, `kafka_burrow.json` of mcagriaktas/kafka-lab. 14014 (KMinion's groups) could
not be found: every name that KMinion has for groups stands for it. Left out: labels that Prometheus
or Kubernetes add, and panels on the exporter's own process (jvm_*, go_*, process_*).
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dashboard.metrics.sets import SET_BY_NAME
from tests.dashboard.metrics.reading import Scraped, scrape
from tests.dashboard.metrics.test_names import KMINION

Uses = Mapping[str, tuple[str, ...]]

_OF_GROUP = ("cluster_name", "group")
_OF_PARTITION = ("cluster_name", "group", "topic", "partition")
# (set, dashboard): every name with the labels by which it is chosen, grouped or shown.
USES: dict[tuple[str, str], Uses] = {
    ("kafka_exporter", "7589"): {
        "kafka_topic_partition_current_offset": ("topic",),
        "kafka_consumergroup_current_offset": ("consumergroup", "topic"),
        "kafka_consumergroup_lag": ("consumergroup", "topic"),
        "kafka_topic_partitions": ("topic",),
    },
    ("lag_exporter", "Kafka Lag Exporter"): {
        "kafka_consumergroup_group_max_lag_seconds": _OF_GROUP,
        "kafka_consumergroup_group_lag_seconds": _OF_PARTITION,
        "kafka_consumergroup_group_max_lag": _OF_GROUP,
        "kafka_consumergroup_group_lag": _OF_PARTITION,
        "kafka_consumergroup_group_offset": _OF_PARTITION,
        "kafka_partition_latest_offset": ("cluster_name", "topic", "partition"),
    },
    ("kminion", "14012"): {
        "kminion_kafka_cluster_info": ("cluster_version", "broker_count"),
        "kminion_kafka_broker_info": ("broker_id", "address", "port", "rack_id", "is_controller"),
        "kminion_kafka_broker_log_dir_size_total_bytes": ("broker_id",),
        "kminion_kafka_topic_high_water_mark_sum": ("topic_name",),
        "kminion_kafka_consumer_group_offset_commits_total": ("group_id",),
        "kminion_exporter_offset_consumer_records_consumed_total": (),
    },
    ("kminion", "14013"): {
        "kminion_kafka_topic_info": (
            *("topic_name", "partition_count", "replication_factor", "cleanup_policy"),
        ),
        "kminion_kafka_topic_high_water_mark_sum": ("topic_name",),
        "kminion_kafka_topic_low_water_mark_sum": ("topic_name",),
        "kminion_kafka_topic_log_dir_size_total_bytes": ("topic_name",),
        "kminion_kafka_topic_partition_low_water_mark": ("topic_name", "partition_id"),
        "kminion_kafka_topic_partition_high_water_mark": ("topic_name", "partition_id"),
        "kminion_kafka_consumer_group_topic_lag": ("group_id", "topic_name"),
    },
    ("kminion", "14014"): {
        name: labels
        for name, (_, labels) in KMINION.items()
        if name.startswith("kminion_kafka_consumer_group_")
    },
    ("burrow", "Burrow Kafka Consumer Monitoring"): {
        "burrow_kafka_consumer_lag_total": ("consumer_group",),
        "burrow_kafka_consumer_partition_lag": ("consumer_group", "topic", "partition"),
        "burrow_kafka_consumer_status": ("consumer_group",),
        "burrow_kafka_topic_partition_offset": ("topic", "partition"),
    },
}
# Where a dashboard computes with two names: by which labels one of the second is found.
PAIRS = (
    (
        "kafka_consumergroup_group_offset",
        "kafka_partition_latest_offset",
        ("cluster_name", "topic", "partition"),
    ),
    (
        "kminion_kafka_topic_high_water_mark_sum",
        "kminion_kafka_topic_low_water_mark_sum",
        ("topic_name",),
    ),
)
# What somebody chose above the dashboard.
_TOPIC, _GROUP = "orders", "billing"
CHOICE = {
    "topic": _TOPIC,
    "topic_name": _TOPIC,
    "group": _GROUP,
    "group_id": _GROUP,
    "consumergroup": _GROUP,
    "consumer_group": _GROUP,
    "cluster_name": "shop",
}
# Panels that stay empty: what we cannot know, as docs/metrics.md says.
EMPTY = {
    "14012": {
        "kminion_kafka_broker_log_dir_size_total_bytes",
        "kminion_exporter_offset_consumer_records_consumed_total",
    },
    "14013": {"kminion_kafka_topic_log_dir_size_total_bytes"},
}
# Where nobody has what is told, others are silent too: here every member of the group works.
SILENT = {"kminion_kafka_consumer_group_empty_members"}


@pytest.mark.parametrize("key", USES, ids=lambda key: key[1])
def test_its_queries_find_their_series(lake: str, key: tuple[str, str]) -> None:
    found = scrape(lake, f"/metrics/{key[0]}")
    lacks = {name for name, _ in SET_BY_NAME[key[0]].lacks}
    empty = EMPTY.get(key[1], set())
    assert USES[key].keys() & lacks == empty
    for name in USES[key].keys() - empty - SILENT:
        labels = USES[key][name]
        chosen = {label: CHOICE[label] for label in labels if label in CHOICE}
        assert found.find(name, **chosen), name
        assert set(labels) <= _list_labels(found, name), name


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_what_it_computes_with_belongs_together(
    lake: str, pair: tuple[str, str, tuple[str, ...]]
) -> None:
    left, right, on = pair
    found = scrape(lake, sets=("lag_exporter", "kminion"))
    places = {tuple(labels[one] for one in on) for labels in _list_series(found, left)}
    others = [tuple(labels[one] for one in on) for labels in _list_series(found, right)]
    assert places <= set(others)
    assert len(others) == len(set(others)), "one each"


def _list_labels(found: Scraped, name: str) -> set[str]:
    return set(_list_series(found, name)[0])


def _list_series(found: Scraped, name: str) -> list[dict[str, str]]:
    samples = [one for family in found.families for one in family.samples]
    return [one.labels for one in samples if one.name == name]
