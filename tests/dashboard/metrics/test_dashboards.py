"""The public Grafana dashboards of the other exporters find their series at /metrics/<set>.

The lag exporter's are its dashboard's own queries. Of 7589 it is known which series it asks for,
and by which labels; of 14012 to 14014 only what their panels are of: these are KMinion's names for
it, less the sizes of log directories, which we do not have.
"""

from __future__ import annotations

import re

import pytest

from tests.dashboard.metrics.reading import Scraped, scrape

_GROUP = 'cluster_name="shop",group=~"billing"'
# (set, dashboard): queries; `instance` and `job` come from Prometheus, `namespace` from Kubernetes.
QUERIES = {
    ("kafka_exporter", "7589"): (
        'sum(rate(kafka_topic_partition_current_offset{instance="$i",topic=~"orders"}[1m])) '
        "by (topic)",
        'sum(rate(kafka_consumergroup_current_offset{instance="$i",topic=~"orders"}[1m])) '
        "by (consumergroup, topic)",
        'sum(kafka_consumergroup_lag{instance="$i",topic=~"orders"}) by (consumergroup, topic)',
        'sum by(topic) (kafka_topic_partitions{instance="$i",topic=~"orders"})',
    ),
    ("lag_exporter", "Kafka Lag Exporter"): (
        f"kafka_consumergroup_group_max_lag_seconds{{{_GROUP}}}",
        f"kafka_consumergroup_group_lag_seconds{{{_GROUP}}}",
        f"kafka_consumergroup_group_max_lag{{{_GROUP}}}",
        f"kafka_consumergroup_group_lag{{{_GROUP}}}",
        f"sum(kafka_consumergroup_group_offset{{{_GROUP}}})",
        f"sum((kafka_consumergroup_group_offset{{{_GROUP}}} * 0) + on(cluster_name,topic,partition)"
        ' kafka_partition_latest_offset{cluster_name="shop"})',
    ),
    ("kminion", "14012"): (
        'kminion_kafka_cluster_info{controller_id=~"3"}',
        'kminion_kafka_broker_info{is_controller="true"}',
        'sum(kminion_kafka_topic_info{cleanup_policy=~"N/A"}) by (partition_count)',
        "sum(rate(kminion_kafka_topic_high_water_mark_sum{}[5m]))",
    ),
    ("kminion", "14013"): (
        'kminion_kafka_topic_info{topic_name=~"orders",replication_factor="3"}',
        'sum(rate(kminion_kafka_topic_high_water_mark_sum{topic_name=~"orders"}[5m])) '
        "by (topic_name)",
        'kminion_kafka_topic_low_water_mark_sum{topic_name=~"orders"}',
        'kminion_kafka_topic_partition_high_water_mark{topic_name=~"orders",partition_id="0"}',
        'kminion_kafka_topic_partition_low_water_mark{topic_name=~"orders",partition_id="0"}',
    ),
    ("kminion", "14014"): (
        'kminion_kafka_consumer_group_info{group_id=~"billing",state="Stable"}',
        'kminion_kafka_consumer_group_members{group_id=~"billing"}',
        'kminion_kafka_consumer_group_topic_members{group_id=~"billing",topic_name=~"orders"}',
        'kminion_kafka_consumer_group_topic_lag{group_id=~"billing"}',
        'rate(kminion_kafka_consumer_group_topic_offset_sum{group_id=~"billing"}[5m])',
        'kminion_kafka_consumer_group_topic_partition_lag{group_id=~"billing",partition_id="0"}',
    ),
}


@pytest.mark.parametrize("key", QUERIES, ids=lambda key: key[1])
def test_its_queries_find_their_series(lake: str, key: tuple[str, str]) -> None:
    found = scrape(lake, f"/metrics/{key[0]}")
    for query in QUERIES[key]:
        for name, given in re.findall(r"(\w+)\{([^}]*)\}", query):
            labels = dict(re.findall(r'(\w+)=~?"([^"]*)"', given))
            labels.pop("instance", None)
            assert found.find(name, **labels), query
        for grouping in re.findall(r"(?:by|on) ?\(([\w, ]+)\)", query):
            name = re.findall(r"(\w+)\{", query)[0]
            assert set(grouping.replace(" ", "").split(",")) <= _list_labels(found, name), query


def _list_labels(found: Scraped, name: str) -> set[str]:
    samples = [one for family in found.families for one in family.samples if one.name == name]
    return set(samples[0].labels)
