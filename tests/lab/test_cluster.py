from __future__ import annotations

import uuid

import pytest
from confluent_kafka import Consumer, Producer
from kazoo.client import KazooClient

from lab.cluster import Cluster
from lab.kafka import find_brokers

pytestmark = pytest.mark.integration


def name_topic() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


def produce(bootstrap: str, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        messages = consumer.consume(count, timeout=30)
        return [message.value() for message in messages if message.error() is None]
    finally:
        consumer.close()


def test_what_is_produced_is_consumed(cluster: Cluster) -> None:
    topic = name_topic()
    cluster.create_topic(topic)
    produce(cluster.bootstrap, topic, [b"one", b"two"])
    assert consume(cluster.bootstrap, topic, 2) == [b"one", b"two"]


def test_brokers_under_a_chroot_survive_kill_9_and_restart() -> None:
    with Cluster(brokers=2, chroot="/kafka/one", session_timeout_ms=3_000) as cluster:
        directory = cluster.directory
        assert find_brokers(cluster.bootstrap) == {0, 1}
        topic = name_topic()
        cluster.create_topic(topic, replication=2)
        produce(cluster.bootstrap, topic, [b"kept"])
        for broker in cluster.brokers:
            broker.kill()
            broker.restart()
        cluster.wait_ready()
        assert consume(cluster.bootstrap, topic, 1) == [b"kept"]
        assert find_children(cluster.zookeeper.connect_string, "/kafka/one/brokers/ids") == {
            "0",
            "1",
        }
        assert find_children(cluster.zookeeper.connect_string, "/") == {"kafka", "zookeeper"}
    assert not directory.exists()


def find_children(connect_string: str, path: str) -> set[str]:
    client = KazooClient(connect_string)
    client.start()
    try:
        return set(client.get_children(path))
    finally:
        client.stop()
        client.close()
