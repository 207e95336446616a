"""The two topics of a cluster: named, created when missing, refused when they lose history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from watcher.log.clients import LIBRDKAFKA, admin_config
from watcher.log.topic_rules import (
    EVENTS_RULES,
    TREE_RULES,
    events_configs,
    judge_topic,
    tree_configs,
)
from zklake.errors import LogError
from zklake.events.topics import Topics, name_topics

ADMIN_TIMEOUT_S = 30.0
MAX_REPLICATION = 3


def ensure_topics(
    bootstrap: str,
    client_config: Mapping[str, Any],
    cluster: str,
    replication: int | None = None,
) -> list[str]:
    """Create the missing topics and judge the existing ones; returns warnings to log."""
    # The client must outlive its futures: its own thread answers them.
    admin = AdminClient(admin_config(bootstrap, client_config), logger=LIBRDKAFKA)
    try:
        return _ensure(admin, bootstrap, name_topics(cluster), replication)
    except KafkaException as error:
        reason = error.args[0].str()
        raise LogError(f"cannot prepare the topics at {bootstrap}: {reason}") from error


def _ensure(
    admin: AdminClient, bootstrap: str, topics: Topics, replication: int | None
) -> list[str]:
    factor = replication or min(MAX_REPLICATION, _count_brokers(admin))
    wanted = (
        (topics.events, events_configs(factor), EVENTS_RULES),
        (topics.tree, tree_configs(factor), TREE_RULES),
    )
    warnings: list[str] = []
    for topic, configs, rules in wanted:
        partitions = _count_partitions(admin, topic)
        if partitions is None:
            _create(admin, NewTopic(topic, 1, factor, config=configs))
        else:
            found = _read_configs(admin, topic)
            warnings += judge_topic(bootstrap, topic, partitions, found, rules)
    return warnings


def _count_brokers(admin: AdminClient) -> int:
    description = admin.describe_cluster(request_timeout=ADMIN_TIMEOUT_S).result()
    return len(description.nodes)


def _count_partitions(admin: AdminClient, topic: str) -> int | None:
    # Not list_topics(topic): asking for one topic by name lets the broker create it by itself.
    futures = admin.describe_topics(TopicCollection([topic]), request_timeout=ADMIN_TIMEOUT_S)
    try:
        return len(futures[topic].result().partitions)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise


def _read_configs(admin: AdminClient, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    (future,) = admin.describe_configs([resource], request_timeout=ADMIN_TIMEOUT_S).values()
    return {name: entry.value for name, entry in future.result().items() if entry.value is not None}


def _create(admin: AdminClient, topic: NewTopic) -> None:
    futures = admin.create_topics(
        [topic], operation_timeout=ADMIN_TIMEOUT_S, request_timeout=ADMIN_TIMEOUT_S
    )
    try:
        futures[topic.topic].result()
    except KafkaException as error:
        # Another watcher of the same cluster, starting at the same moment, made it like this too.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
