"""How far a group is behind: commits asked of who keeps them, log ends of the brokers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from lab.stories.group_looks import read_offsets
from lab.stories.kafka_group_acts import read_kafka_offsets
from lab.stories.patience import STILLNESS_S, Observed
from lab.stories.step import Look

if TYPE_CHECKING:
    from lab.stories.stage import Stage

_ADMIN_S = 10.0
# So long that whoever looks every second has seen it, on a busy machine too.
LOOKED_AT_S = 3.0


@dataclass(frozen=True)
class LagIs(Look):
    """What is committed and where the log ends, partition by partition.

    The difference is planned, or whatever it is (None). That of one partition may be None, too:
    its log was begun anew since the commit, and the difference means nothing.
    """

    fact: ClassVar[str] = "lag_is"
    group: str
    topic: str
    lag: tuple[int | None, ...] | None = None
    coordinator: Literal["zookeeper", "kafka"] = "zookeeper"
    # It holds for so long, so that whoever looks now and then sees it too.
    for_s: float = STILLNESS_S

    @property
    def still_s(self) -> float:
        return self.for_s

    def observe(self, stage: Stage) -> Observed | None:
        try:
            if self.coordinator == "kafka":
                committed = read_kafka_offsets(stage, self.group, self.topic)
            else:
                committed = read_offsets(stage, self.group, self.topic)
            ends = _read_ends(stage, self.topic, sorted(committed))
        except KafkaException:
            return None
        if not committed:
            return None
        lag: dict[int, int | None] = {p: ends[p] - committed[p] for p in committed}
        if self.lag is not None:
            lag |= {p: None for p in lag if self.lag[p : p + 1] == (None,)}
            if lag != dict(enumerate(self.lag)):
                return None
        fields = {"group": self.group, "coordinator": self.coordinator, "topic": self.topic}
        return Observed({**fields, "committed": committed, "ends": ends, "lag": lag})


def _read_ends(stage: Stage, topic: str, partitions: list[int]) -> dict[int, int]:
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    wanted = {TopicPartition(topic, partition): latest for partition in partitions}
    asked = stage.admin.list_offsets(wanted, request_timeout=_ADMIN_S)
    return {one.partition: answer.result(_ADMIN_S).offset for one, answer in asked.items()}
