"""One partition as the lag machine knows it: its open row of log_ends, its curve, its subjects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streaming.fold.lag.curve import Curve

if TYPE_CHECKING:
    from streaming.fold.lag.subject import Subject


@dataclass(slots=True, eq=False)
class Place:
    """A partition. Without an open row nothing is known of its log."""

    topic: str
    partition: int
    curve: Curve = field(default_factory=Curve)
    subjects: list[Subject] = field(default_factory=list)
    # Raised when something changes that a lag is made of.
    version: int = 0
    # The topic as it stands: whether it does, and which one.
    has_topic: bool = False
    topic_incarnation: int | None = None
    # The round that told it, and the one that last vouched for it.
    told_seq: int = -1
    vouched_seq: int = -1
    # The open row.
    is_open: bool = False
    incarnation: int | None = None
    broker_id: int | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None
    sampled_ms: int = 0
    confirmed_ms: int = 0
    from_seq: int = -1
    from_ms: int | None = None
    seen_seq: int = -1


@dataclass(slots=True)
class Places:
    """All partitions that anything is known of, by topic and number."""

    by_topic: dict[str, dict[int, Place]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Place]:
        return (place for places in self.by_topic.values() for place in places.values())

    def get(self, topic: str, partition: int) -> Place:
        """The partition, made when missing."""
        places = self.by_topic.get(topic)
        if places is None:
            places = self.by_topic[topic] = {}
        place = places.get(partition)
        if place is None:
            place = places[partition] = Place(topic, partition)
        return place

    def of(self, topic: str) -> list[Place]:
        """Those of a topic."""
        return list(self.by_topic.get(topic, {}).values())

    def forget_empty(self) -> None:
        """Drop partitions of which nothing is left."""
        for topic, places in list(self.by_topic.items()):
            for place in list(places.values()):
                if not (place.is_open or place.subjects or len(place.curve)):
                    del places[place.partition]
            if not places:
                del self.by_topic[topic]
