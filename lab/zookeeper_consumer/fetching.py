"""Reads messages of the partitions owned, by confluent-kafka's `assign`: no Kafka group is joined.

Knows Kafka, not ZooKeeper. Never blocks longer than one question to a broker.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    TopicPartition,
)

from lab.zookeeper_consumer.assignors import TopicPartition as Partition
from lab.zookeeper_consumer.pace import Pace
from lab.zookeeper_consumer.reports import Reporter

_BATCH = 500
_ASK_S = 1.0
_LOGICAL = {"smallest": OFFSET_BEGINNING, "largest": OFFSET_END}
_MODERN = {"smallest": "earliest", "largest": "latest"}


class Fetching:
    """`positions` holds the next offset to read of each partition whose place is known."""

    def __init__(
        self, member_id: str, reset: str, reporter: Reporter, rate: float | None = None
    ) -> None:
        """Connects to nobody yet. `rate`: messages a second at most."""
        self.positions: dict[Partition, int] = {}
        self._member_id = member_id
        self._reset = reset
        self._reporter = reporter
        self._kafka: Any = None
        self._is_fetching = False
        self._complaints: set[str] = set()
        self._pace = Pace(rate, time.monotonic())

    @property
    def is_fetching(self) -> bool:
        """Whether there is anything to poll for."""
        return self._is_fetching

    def prepare(self, bootstrap: str) -> None:
        """Make the Kafka client when it is missing."""
        if self._kafka is None:
            self._kafka = Consumer(
                {
                    "bootstrap.servers": bootstrap,
                    "client.id": self._member_id,
                    "group.id": "zklake-lab",  # librdkafka wants one; nothing is ever stored there
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                    "auto.offset.reset": _MODERN[self._reset],
                    "allow.auto.create.topics": False,
                    "reconnect.backoff.max.ms": 500,
                    "log_level": 2,  # else every refused connection becomes a line on stderr
                }
            )

    def start(self, wanted: Iterable[Partition], committed: Mapping[Partition, int]) -> None:
        """Read on from the committed offsets, and by the reset policy where there are none."""
        partitions = list(wanted)
        self._complaints.clear()
        self.positions = {one: committed[one] for one in partitions if one in committed}
        self._look_up([one for one in partitions if one not in committed])
        logical = _LOGICAL[self._reset]
        self._kafka.assign(
            [TopicPartition(*one, self.positions.get(one, logical)) for one in partitions]
        )
        self._is_fetching = bool(partitions)

    def stop(self) -> dict[Partition, int]:
        """Read nothing more; returns the positions, which are then forgotten."""
        if self._is_fetching:
            self._kafka.unassign()
        self._is_fetching = False
        positions, self.positions = self.positions, {}
        return positions

    def poll(self) -> list[tuple[str, int, int]]:
        """What has arrived and may be read now: (topic, partition, offset). Does not wait."""
        most = min(_BATCH, self._pace.allow(time.monotonic()))
        if not self._is_fetching or most == 0:
            return []
        arrived = []
        for message in self._kafka.consume(most, timeout=0):
            if message.error() is not None:
                self._complain(str(message.error()))
                continue
            arrived.append((message.topic(), message.partition(), message.offset()))
        self._pace.spend(len(arrived))
        return arrived

    def pass_by(self, topic: str, partition: int, offset: int) -> None:
        """A message has been dealt with: the next one is to be read."""
        self.positions[topic, partition] = offset + 1

    def close(self) -> None:
        """Let the brokers go."""
        if self._kafka is not None:
            self._kafka.close()
            self._kafka = None
        self._is_fetching = False

    def _look_up(self, partitions: Iterable[Partition]) -> None:
        # The original commits where it begins even before the first message, so ask for the place.
        for one in partitions:
            try:
                ends = self._kafka.get_watermark_offsets(TopicPartition(*one), timeout=_ASK_S)
            except KafkaException as error:
                self._complain(str(error))
                return
            if ends is None:
                return
            self.positions[one] = ends[0] if self._reset == "smallest" else ends[1]

    def _complain(self, why: str) -> None:
        if why not in self._complaints:
            self._complaints.add(why)
            self._reporter.say("fetch_error", why=why)
