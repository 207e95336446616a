from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from tests.watcher.log.writing import name_cluster
from watcher.log.topics import ensure_topics
from zklake.errors import LogError, TopicRefused
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from lab.cluster import Cluster

pytestmark = pytest.mark.integration


def read_configs(bootstrap: str, topic: str) -> dict[str, str]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    (future,) = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    return {name: entry.value for name, entry in future.result().items()}


def create_topic(bootstrap: str, topic: str, partitions: int, config: dict[str, str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    new = NewTopic(topic, partitions, 1, config=config)
    admin.create_topics([new], operation_timeout=30)[topic].result()


def test_missing_topics_are_created_right_and_accepted_the_next_time(cluster: Cluster) -> None:
    name = name_cluster()
    assert ensure_topics(cluster.bootstrap, {}, name) == []
    events = read_configs(cluster.bootstrap, f"zklake.{name}")
    assert events["cleanup.policy"] == "delete"
    assert events["retention.ms"] == events["retention.bytes"] == "-1"
    assert int(events["max.message.bytes"]) > 2 * 1024 * 1024
    tree = read_configs(cluster.bootstrap, f"zklake.{name}.tree")
    assert tree["cleanup.policy"] == "compact"
    assert tree["segment.bytes"] == "67108864"
    assert tree["segment.ms"] == "600000"
    assert float(tree["min.cleanable.dirty.ratio"]) == 0.1
    for configs in (events, tree):
        assert configs["min.insync.replicas"] == "1"
        assert configs["unclean.leader.election.enable"] == "false"
    metadata = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10)
    assert [len(metadata.topics[topic].partitions) for topic in name_topics(name)] == [1, 1]
    assert ensure_topics(cluster.bootstrap, {}, name) == []


def test_topics_that_would_lose_history_are_refused(cluster: Cluster) -> None:
    name = name_cluster()
    create_topic(cluster.bootstrap, f"zklake.{name}", 2, {})
    with pytest.raises(TopicRefused, match="has 2 partitions"):
        ensure_topics(cluster.bootstrap, {}, name)
    name = name_cluster()
    create_topic(cluster.bootstrap, f"zklake.{name}", 1, {"cleanup.policy": "compact"})
    with pytest.raises(TopicRefused, match=r"cleanup\.policy=compact, needed is delete"):
        ensure_topics(cluster.bootstrap, {}, name)
    name = name_cluster()
    create_topic(cluster.bootstrap, f"zklake.{name}.tree", 1, {})
    with pytest.raises(TopicRefused, match=r"cleanup\.policy=delete, needed is compact"):
        ensure_topics(cluster.bootstrap, {}, name)


def test_finite_retention_is_a_warning(cluster: Cluster) -> None:
    name = name_cluster()
    configs = {"retention.ms": "86400000", "max.message.bytes": "4000000"}
    create_topic(cluster.bootstrap, f"zklake.{name}", 1, configs)
    (warning,) = ensure_topics(cluster.bootstrap, {}, name)
    assert "retention.ms=86400000" in warning


def test_more_replicas_than_brokers_is_told(cluster: Cluster) -> None:
    with pytest.raises(LogError, match="cannot prepare the topics"):
        ensure_topics(cluster.bootstrap, {}, name_cluster(), replication=3)
