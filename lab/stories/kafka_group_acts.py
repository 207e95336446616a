"""What is done to Kafka-stored groups, and what must then hold: asked of the brokers alone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import ConsumerGroupDescription

from lab.kafka_consumer import KafkaMember
from lab.stories.patience import Observed
from lab.stories.step import Act, Fields, Look

if TYPE_CHECKING:
    from lab.stories.stage import Stage

_ADMIN_S = 10.0
_STOP_S = 30.0
_COMMIT_MS = 2_000
_LEAST_COMMIT_MS = 200
_SETTLED = (ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY)


def describe_group(stage: Stage, group: str) -> ConsumerGroupDescription | None:
    """A group whose members have settled; None while they have not, or nobody answers."""
    asked = stage.admin.describe_consumer_groups([group], request_timeout=_ADMIN_S)
    try:
        found: ConsumerGroupDescription = asked[group].result(_ADMIN_S)
    except KafkaException as error:
        _forget_coordinator(stage, error)
        return None
    return found if found.state in _SETTLED else None


def read_kafka_offsets(stage: Stage, group: str, topic: str) -> dict[int, int]:
    """What a group has committed to Kafka; raises while nobody answers."""
    wanted = [ConsumerGroupTopicPartitions(group)]
    asked = stage.admin.list_consumer_group_offsets(wanted, request_timeout=_ADMIN_S)
    found = asked[group].result(_ADMIN_S).topic_partitions or ()
    return {each.partition: each.offset for each in found if each.topic == topic}


def _forget_coordinator(stage: Stage, error: KafkaException) -> None:
    if error.args[0].code() == KafkaError.NOT_COORDINATOR:
        stage.renew_admin()


def _find_members(group: ConsumerGroupDescription | None) -> dict[str, str]:
    """Member ids by client id."""
    return {each.client_id: each.member_id for each in group.members} if group else {}


@dataclass(frozen=True)
class KafkaMemberAct(Act):
    """One member of one group, by its client id."""

    group: str
    client_id: str

    def list_fields(self) -> dict[str, Any]:
        return {"group": self.group, "client_id": self.client_id}

    def find_member_id(self, stage: Stage) -> str:
        """Its id, once the group has settled with it."""

        def find() -> str | None:
            return _find_members(describe_group(stage, self.group)).get(self.client_id)

        return stage.patience.wait_for(find, f"{self.client_id} in {self.group}")


@dataclass(frozen=True)
class JoinKafkaGroup(KafkaMemberAct):
    """A consumer starts; over when the group has settled with it, or, `in_haste`, at once."""

    fact: ClassVar[str] = "kafka_member_joined"
    topic: str
    in_haste: bool = False

    def perform(self, stage: Stage) -> Fields:
        member = KafkaMember(
            stage.cluster.bootstrap,
            self.group,
            self.client_id,
            self.topic,
            commit_ms=max(_LEAST_COMMIT_MS, stage.scale_ms(_COMMIT_MS)),
            log_file=stage.cluster.logs / "consumers" / f"{self.group}_{self.client_id}.log",
        )
        stage.kafka_members[self.group, self.client_id] = member
        member.start()
        subscription = {"subscription": {self.topic: 1}}
        if self.in_haste:
            return subscription
        return {"member_id": self.find_member_id(stage), **subscription}


@dataclass(frozen=True)
class LeaveKafkaGroup(KafkaMemberAct):
    """It stops; over when the group has settled without it, or, `in_haste`, with the process."""

    fact: ClassVar[str] = "kafka_member_left"
    in_haste: bool = False

    def perform(self, stage: Stage) -> Fields:
        if self.in_haste:
            with closing(stage.kafka_members.pop((self.group, self.client_id))) as member:
                member.stop(_STOP_S)
            return {}
        member_id = self.find_member_id(stage)
        member = stage.kafka_members.pop((self.group, self.client_id))
        member.stop(_STOP_S)
        stage.patience.wait_for(lambda: self._is_gone(stage, member_id), f"the end of {self}")
        member.close()
        return {"member_id": member_id}

    def _is_gone(self, stage: Stage, member_id: str) -> bool:
        found = describe_group(stage, self.group)
        return found is not None and member_id not in _find_members(found).values()


@dataclass(frozen=True)
class StallKafkaMember(KafkaMemberAct):
    """It stays a member, and reads no more."""

    fact: ClassVar[str] = "kafka_member_stalled"

    def perform(self, stage: Stage) -> Fields:
        stage.kafka_members[self.group, self.client_id].stall()
        # What it read before it heard of it is committed by then, or never.
        stage.sleep(_COMMIT_MS)
        return {"member_id": self.find_member_id(stage)}


@dataclass(frozen=True)
class CommitToKafka(Act):
    """Offsets of a group that has no members in Kafka: dual commit, as the old consumer could."""

    fact: ClassVar[str] = "kafka_offsets_committed"
    group: str
    topic: str
    offsets: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        offsets = [TopicPartition(self.topic, p, offset) for p, offset in enumerate(self.offsets)]
        wanted = ConsumerGroupTopicPartitions(self.group, offsets)
        stage.admin.alter_consumer_group_offsets([wanted])[self.group].result(_ADMIN_S)
        return {}

    def list_fields(self) -> dict[str, Any]:
        offsets = dict(enumerate(self.offsets))
        return {"group": self.group, "topic": self.topic, "offsets": offsets}


def assign_by_range(partitions: int, client_ids: tuple[str, ...]) -> dict[int, str]:
    """Client ids by partition: a broker's member ids sort as the client ids they begin with."""
    share, rest = divmod(partitions, len(client_ids))
    counts = [share + (i < rest) for i in range(len(client_ids))]
    return dict(
        enumerate(c for c, n in zip(sorted(client_ids), counts, strict=True) for _ in [0] * n)
    )


@dataclass(frozen=True)
class KafkaOwnersAre(Look):
    """Exactly these members, and the topic's partitions are theirs by the range formula."""

    fact: ClassVar[str] = "kafka_owners_are"
    group: str
    topic: str
    partitions: int
    client_ids: tuple[str, ...]

    def observe(self, stage: Stage) -> Observed | None:
        group = describe_group(stage, self.group)
        members = _find_members(group)
        if group is None or sorted(members) != sorted(self.client_ids):
            return None
        owners = {
            each.partition: member.member_id
            for member in group.members
            for each in member.assignment.topic_partitions
        }
        ranged = assign_by_range(self.partitions, self.client_ids)
        if owners != {partition: members[client] for partition, client in ranged.items()}:
            return None
        fields = {"group": self.group, "topic": self.topic, "members": sorted(members.values())}
        return Observed({**fields, "owners": dict(sorted(owners.items()))})


@dataclass(frozen=True)
class KafkaOffsetsAre(Look):
    """What the group has committed to Kafka, partition by partition."""

    fact: ClassVar[str] = "kafka_offsets_are"
    group: str
    topic: str
    offsets: tuple[int, ...]

    def observe(self, stage: Stage) -> Observed | None:
        try:
            offsets = read_kafka_offsets(stage, self.group, self.topic)
        except KafkaException as error:
            _forget_coordinator(stage, error)
            return None
        if offsets != dict(enumerate(self.offsets)):
            return None
        return Observed({"group": self.group, "topic": self.topic, "offsets": offsets})
