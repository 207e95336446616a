"""What must hold of topics, by the brokers' metadata; ZooKeeper only says if it moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lab.stories.patience import STILLNESS_S, Observed
from lab.stories.step import Look
from lab.stories.topic_acts import Placement

if TYPE_CHECKING:
    from confluent_kafka.admin import PartitionMetadata

    from lab.stories.stage import Stage


@dataclass(frozen=True)
class LeadersAre(Look):
    """Every living replica is in sync, and one of them leads: the first, if that must hold."""

    fact: ClassVar[str] = "leaders_are"
    topic: str
    replicas: Placement
    preferred: bool = False

    def observe(self, stage: Stage) -> Observed | None:
        metadata = stage.ask_metadata()
        topic = metadata.topics.get(self.topic) if metadata else None
        if topic is None or sorted(topic.partitions) != list(range(len(self.replicas))):
            return None
        living = stage.list_living_brokers()
        if not all(self._is_settled(one, living) for one in topic.partitions.values()):
            return None
        partitions = {one.id: _describe(one) for one in topic.partitions.values()}
        return Observed({"topic": self.topic, "partitions": partitions}, self._read_versions(stage))

    def _read_versions(self, stage: Stage) -> list[int]:
        """The states' versions: brokers may lag behind what ZooKeeper has."""
        parent = f"/brokers/topics/{self.topic}/partitions"
        read = [stage.read(f"{parent}/{p}/state") for p in range(len(self.replicas))]
        return [one.stat.version for one in read if one is not None]

    def _is_settled(self, one: PartitionMetadata, living: set[int]) -> bool:
        replicas = self.replicas[one.id]
        in_sync = living.intersection(replicas)
        wanted = {replicas[0]} if self.preferred else in_sync
        return (
            one.error is None
            and tuple(one.replicas) == replicas
            and set(one.isrs) == in_sync
            and one.leader in wanted
        )


def _describe(one: PartitionMetadata) -> dict[str, Any]:
    return {"leader": one.leader, "isr": list(one.isrs), "replicas": list(one.replicas)}


@dataclass(frozen=True)
class TopicIsGone(Look):
    """No broker knows the topic."""

    fact: ClassVar[str] = "topic_is_gone"
    topic: str
    # It holds for so long, so that whoever follows has done so.
    for_s: float = STILLNESS_S

    @property
    def still_s(self) -> float:
        return self.for_s

    def observe(self, stage: Stage) -> Observed | None:
        metadata = stage.ask_metadata()
        if metadata is None or self.topic in metadata.topics:
            return None
        return Observed({"topic": self.topic})
