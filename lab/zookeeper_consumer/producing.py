"""Messages for consumers to read: numbered, so that whoever counts can say which are missing."""

from __future__ import annotations

import itertools
import time
from threading import Event
from typing import Any

from confluent_kafka import Producer

from lab.zookeeper_consumer.group import read_bootstrap
from lab.zookeeper_consumer.session import closing_client
from zklake.errors import LabError


def produce(
    bootstrap: str,
    topic: str,
    count: int | None,
    rate: float | None = None,
    *,
    first: int = 0,
    stopping: Event | None = None,
) -> int:
    """Send `count` messages (None: until `stopping`), at most `rate` a second; returns how many."""
    asked = stopping or Event()
    acknowledged = _Acknowledged()
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": True,
            "sticky.partitioning.linger.ms": 0,  # every message to a partition of its own choice
            # A broker may restart meanwhile; a topic that does not exist should not cost as much.
            "message.timeout.ms": 60_000,
            "topic.metadata.propagation.max.ms": 3_000,
            "log_level": 2,
        }
    )
    started_at = time.monotonic()
    for sent in itertools.count() if count is None else range(count):
        due_at = started_at + sent / rate if rate else 0.0
        if asked.wait(max(0.0, due_at - time.monotonic())):
            break
        enqueue(producer, topic, str(first + sent).encode(), on_delivery=acknowledged.note)
        producer.poll(0)
    producer.flush(65)
    acknowledged.check(bootstrap, topic)
    return acknowledged.count


def enqueue(producer: Producer, topic: str, value: bytes, **options: Any) -> None:
    """Hand a message to a producer; while its queue is full, wait. `options` are produce()'s."""
    while True:
        try:
            producer.produce(topic, value, **options)
            return
        except BufferError:
            producer.poll(0.1)


def find_bootstrap(zookeeper: str) -> str:
    """The brokers that are registered in ZooKeeper."""
    with closing_client(zookeeper) as client:
        bootstrap = read_bootstrap(client)
    if not bootstrap:
        raise LabError(f"no broker is registered in {zookeeper}: start one, or give --watched")
    return bootstrap


class _Acknowledged:
    """Counts what the brokers have taken."""

    def __init__(self) -> None:
        self.count = 0
        self._error = ""

    def note(self, error: object, message: object) -> None:
        if error is None:
            self.count += 1
        else:
            self._error = str(error)

    def check(self, bootstrap: str, topic: str) -> None:
        """Some were refused: say why."""
        if self._error:
            raise LabError(
                f"topic {topic} on {bootstrap} refused messages after {self.count}: {self._error}"
            )
