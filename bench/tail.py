"""The log of one bench as a read_committed consumer sees it. Shares no reading code with zklake."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from zklake.events.envelope import Event, decode
from zklake.events.topics import name_topics

_POLL_S = 0.05


class Tail:
    """Reads on from where it stands."""

    def __init__(self, bootstrap: str, cluster: str) -> None:
        self.cluster = cluster
        self._topic = name_topics(cluster).events
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "bench",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 10,
                # The topic may not be there yet.
                "topic.metadata.refresh.interval.ms": 200,
                "allow.auto.create.topics": False,
            }
        )
        self.seek(OFFSET_BEGINNING)

    def seek(self, offset: int) -> None:
        """Go on from this offset."""
        self._consumer.assign([TopicPartition(self._topic, 0, offset)])

    def find_end(self) -> int:
        """The offset after the last committed record."""
        partition = TopicPartition(self._topic, 0)
        _, end = self._consumer.get_watermark_offsets(partition, timeout=10)
        return int(end)

    def read(self, seconds: float) -> Iterator[tuple[int, Event]]:
        """Offsets and events, as they come, for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            # consume() waits until it has all it was asked for: one, then what is there already.
            first = self._consumer.consume(1, _POLL_S)
            for message in first + self._consumer.consume(1000, 0) if first else ():
                value, offset = message.value(), message.offset()
                if message.error() is None and value is not None and offset is not None:
                    yield offset, decode(value)

    def wait(self, accept: Callable[[Event], bool], seconds: float) -> Event | None:
        """The next event that is accepted."""
        return next((event for _, event in self.read(seconds) if accept(event)), None)

    def close(self) -> None:
        """Let go."""
        self._consumer.close()
