"""What is done to topics and partitions: by the API, or by the znodes that the old tools wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from confluent_kafka import ElectionType, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import NewPartitions, NewTopic

from lab.stories.raw_requests import alter_reassignment
from lab.stories.step import Act, Fields
from lab.zookeeper_consumer.producing import produce
from zklake.errors import LabError

if TYPE_CHECKING:
    from lab.stories.stage import Stage

# Replicas by partition, preferred leader first.
Placement = tuple[tuple[int, ...], ...]
Way = Literal["znode", "api"]
REASSIGN = "/admin/reassign_partitions"
ELECT = "/admin/preferred_replica_election"
_ADMIN_S = 60.0


@dataclass(frozen=True)
class CreateTopic(Act):
    """By the API, with replicas of our choosing."""

    fact: ClassVar[str] = "topic_created"
    topic: str
    replicas: Placement

    def perform(self, stage: Stage) -> Fields:
        placement = [list(of_one) for of_one in self.replicas]
        wanted = NewTopic(self.topic, len(placement), replica_assignment=placement)
        stage.admin.create_topics([wanted])[self.topic].result(_ADMIN_S)
        _wait_for_states(stage, self.topic, len(self.replicas))
        return {}

    def list_fields(self) -> dict[str, Any]:
        return {"topic": self.topic, "replicas": dict(enumerate(self.replicas))}


@dataclass(frozen=True)
class AddPartitions(Act):
    """`replicas` are those of the new partitions, which begin at `first`."""

    fact: ClassVar[str] = "partitions_added"
    topic: str
    first: int
    replicas: Placement

    def perform(self, stage: Stage) -> Fields:
        count = self.first + len(self.replicas)
        placement = [list(of_one) for of_one in self.replicas]
        wanted = NewPartitions(self.topic, count, replica_assignment=placement)
        stage.admin.create_partitions([wanted])[self.topic].result(_ADMIN_S)
        _wait_for_states(stage, self.topic, count)
        return {}

    def list_fields(self) -> dict[str, Any]:
        return {"topic": self.topic, "replicas": dict(enumerate(self.replicas, self.first))}


@dataclass(frozen=True)
class DeleteTopic(Act):
    """Over when the controller has removed topic and request, which the API writes too."""

    fact: ClassVar[str] = "topic_deleted"
    topic: str
    by: Way = "api"

    def perform(self, stage: Stage) -> Fields:
        request = f"/admin/delete_topics/{self.topic}"
        if self.by == "znode":
            stage.zookeeper.create(request)
        else:
            stage.admin.delete_topics([self.topic])[self.topic].result(_ADMIN_S)
        stage.wait_until_gone(f"/brokers/topics/{self.topic}")
        stage.wait_until_gone(request)
        return {}


@dataclass(frozen=True)
class Reassign(Act):
    """By the znode of the old `--zookeeper` tool, which a 3.9 controller still obeys, or by API."""

    fact: ClassVar[str] = "reassigned"
    topic: str
    partition: int
    replicas: tuple[int, ...]
    by: Way = "znode"

    def perform(self, stage: Stage) -> Fields:
        if self.by == "znode":
            one = {"topic": self.topic, "partition": self.partition, "replicas": self.replicas}
            stage.zookeeper.create(REASSIGN, _write_request([one]))
            stage.wait_until_gone(REASSIGN)
        else:
            controller = stage.find_broker("controller").address
            alter_reassignment(controller, self.topic, self.partition, self.replicas)
        stage.patience.wait_for(lambda: self._is_done(stage), f"the end of {self}")
        return {}

    def _is_done(self, stage: Stage) -> bool:
        topic = stage.read_json(f"/brokers/topics/{self.topic}")
        in_flight = topic["adding_replicas"] or topic["removing_replicas"]
        return topic["partitions"][str(self.partition)] == list(self.replicas) and not in_flight


@dataclass(frozen=True)
class ElectPreferred(Act):
    """Leadership back to the first replica of each partition, by the old znode or by the API."""

    fact: ClassVar[str] = "preferred_elected"
    topic: str
    partitions: tuple[int, ...]
    by: Way

    def perform(self, stage: Stage) -> Fields:
        if self.by == "znode":
            wanted = [{"topic": self.topic, "partition": p} for p in self.partitions]
            stage.zookeeper.create(ELECT, _write_request(wanted))
            stage.wait_until_gone(ELECT)
        else:
            self._ask_controller(stage)
        return {}

    def _ask_controller(self, stage: Stage) -> None:
        wanted = [TopicPartition(self.topic, partition) for partition in self.partitions]
        results = stage.admin.elect_leaders(ElectionType.PREFERRED, wanted).result(_ADMIN_S)
        for partition, error in results.items():
            # The controller elects by itself too, now and then.
            if error is not None and error.code() != KafkaError.ELECTION_NOT_NEEDED:
                raise LabError(f"no preferred election of {partition}: {error}")


@dataclass(frozen=True)
class Produce(Act):
    """So many messages to each partition, acknowledged by every replica in sync."""

    fact: ClassVar[str] = "produced"
    topic: str
    counts: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        producer = Producer(
            {"bootstrap.servers": stage.cluster.bootstrap, "acks": "all", "log_level": 2}
        )
        for partition, count in enumerate(self.counts):
            for i in range(count):
                producer.produce(self.topic, f"{partition}/{i}", partition=partition)
        if left := producer.flush(_ADMIN_S):
            raise LabError(f"{left} messages to {self.topic} were not acknowledged")
        return {}

    def list_fields(self) -> dict[str, Any]:
        return {"topic": self.topic, "counts": dict(enumerate(self.counts))}


@dataclass(frozen=True)
class ProduceSteadily(Act):
    """So many messages a second to a topic of one partition."""

    fact: ClassVar[str] = "produced"
    topic: str
    count: int
    rate: float

    def perform(self, stage: Stage) -> Fields:
        produce(stage.cluster.bootstrap, self.topic, self.count, self.rate)
        return {}

    def list_fields(self) -> dict[str, Any]:
        return {"topic": self.topic, "counts": {0: self.count}}


def _write_request(partitions: list[dict[str, Any]]) -> bytes:
    return json.dumps({"version": 1, "partitions": partitions}).encode()


def _wait_for_states(stage: Stage, topic: str, partitions: int) -> None:
    for partition in range(partitions):
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        stage.patience.wait_for(partial(stage.read, path), path)
