"""A member that is none: a bare session that writes a member's znodes, and keeps some too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kazoo.client import KazooClient

from lab.stories.group_acts import MemberAct
from lab.stories.step import Fields
from lab.stories.truth import now_ms
from lab.zookeeper_consumer.registration import encode_registration
from lab.zookeeper_consumer.subscription import build_subscription

if TYPE_CHECKING:
    from lab.stories.stage import Stage

# Longer than any story: it ends when we end it.
_SESSION_S = 60.0


@dataclass(frozen=True)
class RegisterImpostor(MemberAct):
    """It registers, so the others leave it its share; it claims nothing."""

    fact: ClassVar[str] = "member_joined"
    topic: str

    def perform(self, stage: Stage) -> Fields:
        client = KazooClient(stage.cluster.zookeeper_connect, timeout=_SESSION_S)
        client.start(timeout=stage.patience.timeout_s)
        stage.impostors[self.member_id] = client
        data = encode_registration(build_subscription([self.topic], None, None, 1), now_ms())
        client.create(self.registration, data, ephemeral=True)
        return {"subscription": {self.topic: 1}, "commits": False}


@dataclass(frozen=True)
class ClaimPartitions(MemberAct):
    """Owner znodes of its own, as a member would write them."""

    fact: ClassVar[str] = "owners_claimed"
    topic: str
    partitions: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        client, parent = stage.impostors[self.member_id], _name_owners(self)
        for partition in self.partitions:
            client.create(f"{parent}/{partition}", f"{self.member_id}-0".encode(), ephemeral=True)
        return {}

    def list_fields(self) -> dict[str, Any]:
        fields = {"topic": self.topic, "partitions": self.partitions}
        return {**super().list_fields(), **fields}


@dataclass(frozen=True)
class Unregister(MemberAct):
    """It is a member no more, and keeps its owner znodes: a zombie."""

    fact: ClassVar[str] = "member_unregistered"

    def perform(self, stage: Stage) -> Fields:
        stage.impostors[self.member_id].delete(self.registration)
        return {}


@dataclass(frozen=True)
class EndImpostor(MemberAct):
    """Its session is closed, and its owner znodes go with it."""

    fact: ClassVar[str] = "owners_lost"
    topic: str
    partitions: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        client = stage.impostors.pop(self.member_id)
        client.stop()
        client.close()
        return {}

    def list_fields(self) -> dict[str, Any]:
        fields = {"topic": self.topic, "partitions": self.partitions}
        return {**super().list_fields(), **fields}


def _name_owners(act: ClaimPartitions) -> str:
    return f"/consumers/{act.group}/owners/{act.topic}"
