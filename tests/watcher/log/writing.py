"""Batches to publish, and what a plain read_committed consumer then sees. Shares no reading code
with the product."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient

from watcher.log.batch import Batch
from zklake.events.envelope import Event, Meta, TreeRow, encode

LOG_ID = "log-1"


def make_row(number: int) -> TreeRow:
    return TreeRow(number, number + 1, 0, 0, 0, 0, 0, f"{number:016x}")


def make_batch(first: int, count: int = 1, path: str = "/brokers/ids/{}") -> Batch:
    """Events first … first + count - 1, one tree row each, and #meta."""
    seqs = range(first, first + count)
    events = [
        encode(Event("c", LOG_ID, seq, "create", 1_000 + seq, path=path.format(seq)))
        for seq in seqs
    ]
    rows: dict[str, TreeRow | None] = {path.format(seq): make_row(seq) for seq in seqs}
    last = first + count - 1
    return Batch(events, rows, Meta(LOG_ID, last, last, 1_000 + last))


def name_cluster() -> str:
    return f"c{uuid.uuid4().hex[:10]}"


def read_topic(
    bootstrap: str, topic: str, isolation: str = "read_committed"
) -> list[tuple[bytes | None, Any]]:
    """Every (key, JSON value) of the topic, to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "test",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[tuple[bytes | None, Any]] = []
    try:
        while True:
            message = consumer.poll(10)
            assert message is not None, f"{topic} did not answer"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return found
            value = message.value()
            found.append((message.key(), None if value is None else json.loads(value)))
    finally:
        consumer.close()


def read_seqs(bootstrap: str, cluster: str, isolation: str = "read_committed") -> list[int]:
    return [value["seq"] for _, value in read_topic(bootstrap, f"zklake.{cluster}", isolation)]


def delete_topic(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.delete_topics([topic], operation_timeout=30)[topic].result()
    time.sleep(1)  # the broker's log directory is renamed a little later
