"""A log on a real broker, for tests of the stream."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from functools import cached_property

from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from zklake.events.envelope import Event, encode


class Topic:
    """A log of its own on a real broker, written in transactions as the watcher does."""

    def __init__(self, bootstrap: str, *, create: bool = True) -> None:
        self.name = f"zklake.{uuid.uuid4().hex[:8]}"
        self._bootstrap = bootstrap
        if create:
            self.create()

    def create(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        admin.create_topics([NewTopic(self.name, 1, 1)])[self.name].result(30)

    def recreate(self) -> None:
        """Delete it, and make an empty one of the same name."""
        self.forget_producer()
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        admin.delete_topics([self.name])[self.name].result(30)
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.create()
            except KafkaException:  # the name is marked for deletion for a while
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    @cached_property
    def _producer(self) -> Producer:
        options = {"bootstrap.servers": self._bootstrap, "transactional.id": self.name}
        producer = Producer(options)
        producer.init_transactions(30)
        return producer

    def forget_producer(self) -> None:
        """After the broker's death: what it knew of the old one's transactions may be gone."""
        self.__dict__.pop("_producer", None)

    def write(self, events: Sequence[Event | bytes], *, abort: bool = False) -> None:
        """In one transaction; bytes are written as they are."""
        self._producer.begin_transaction()
        for event in events:
            value = event if isinstance(event, bytes) else encode(event)
            self._producer.produce(self.name, value)
        self._producer.flush(30)
        if abort:
            self._producer.abort_transaction(30)
        else:
            self._producer.commit_transaction(30)

    def trim(self, offset: int) -> None:
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        partition = TopicPartition(self.name, 0, offset)
        admin.delete_records([partition])[partition].result(30)
