"""What must hold of consumer groups, read from ZooKeeper and not asked of the consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab.stories.group_acts import name_member
from lab.stories.patience import Observed
from lab.stories.step import Look
from lab.zookeeper_consumer.group import expect_owners

if TYPE_CHECKING:
    from lab.stories.stage import Stage, ZnodeReading


@dataclass(frozen=True)
class OwnersAre(Look):
    """Exactly these members live, and the topic's owners are those of the range formula."""

    fact: ClassVar[str] = "owners_are"
    group: str
    topic: str
    members: tuple[str, ...]

    def observe(self, stage: Stage) -> Observed | None:
        member_ids = stage.list_children(f"/consumers/{self.group}/ids")
        if member_ids != sorted(name_member(self.group, member) for member in self.members):
            return None
        read = _read_partitions(stage, f"/consumers/{self.group}/owners/{self.topic}")
        owners = {partition: one.data.decode() for partition, one in read.items()}
        if owners != expect_owners(stage.zookeeper, self.group).get(self.topic, {}):
            return None
        # The same owner again is a new tenure: only the czxid shows it.
        tenures = {partition: one.stat.czxid for partition, one in read.items()}
        fields = {"group": self.group, "topic": self.topic, "members": member_ids, "owners": owners}
        return Observed(fields, tenures)


@dataclass(frozen=True)
class OffsetsAre(Look):
    """What the group has committed, partition by partition: the next offset to read."""

    fact: ClassVar[str] = "offsets_are"
    group: str
    topic: str
    offsets: tuple[int, ...]

    def observe(self, stage: Stage) -> Observed | None:
        read = _read_partitions(stage, _name_offsets(self.group, self.topic))
        offsets = {partition: int(one.data) for partition, one in read.items()}
        if offsets != dict(enumerate(self.offsets)):
            return None
        fields = {"group": self.group, "topic": self.topic, "offsets": offsets}
        return Observed(fields, {partition: one.stat.version for partition, one in read.items()})


def read_offsets(stage: Stage, group: str, topic: str) -> dict[int, int]:
    """What a group has committed to ZooKeeper."""
    read = _read_partitions(stage, _name_offsets(group, topic))
    return {partition: int(one.data) for partition, one in sorted(read.items())}


def _name_offsets(group: str, topic: str) -> str:
    return f"/consumers/{group}/offsets/{topic}"


def _read_partitions(stage: Stage, path: str) -> dict[int, ZnodeReading]:
    names = stage.list_children(path)
    readings = {int(name): stage.read(f"{path}/{name}") for name in names}
    return {partition: one for partition, one in readings.items() if one is not None}
