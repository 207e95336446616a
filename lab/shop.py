"""The clients of `zklake run`: a topic and a group that reads it: there is more to ask about.

Their names are those of the examples in examples/queries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from lab.cluster import Cluster
from lab.regulars import KafkaRegular, ZooKeeperRegular
from lab.stories.group_acts import JoinGroup
from lab.stories.kafka_group_acts import JoinKafkaGroup
from lab.stories.stage import Stage
from lab.stories.truth import Fact
from zklake.supervision.startable import Startable

TOPIC, GROUP, PARTITIONS = "orders", "readers", 4
# A group that Kafka stores; it reads the same topic.
KAFKA_GROUP = "billing"
# Messages a second that one member of `readers` can read.
MEMBER_RATE = 9.0
REGULARS = ("a", "b")
# Sessions expire and brokers start within seconds; on a busy machine within minutes.
_PATIENCE_S = 180.0
# The topic is produced to for as long as the run lasts: small segments, so that old ones go.
_SETTINGS = {"segment.bytes": str(1 << 20), "retention.ms": str(6 * 3_600_000)}


def plan_join(member: str) -> JoinGroup:
    """How a member of the group comes."""
    return JoinGroup(GROUP, member, TOPIC, rate=MEMBER_RATE)


def plan_kafka_join(client_id: str) -> JoinKafkaGroup:
    """How a member of the Kafka-stored group comes."""
    # The process that holds the run asks no broker about a group: see KafkaRegular.
    return JoinKafkaGroup(KAFKA_GROUP, client_id, TOPIC, in_haste=True)


class Shop(Startable):
    """Four partitions of `orders`, and `readers_a` and `readers_b` who share them."""

    def __init__(
        self, cluster: Cluster, *, seed: int, say: Callable[[str], None], speed: float = 1.0
    ) -> None:
        """Nothing starts yet. What is done on its stage is written down in story.jsonl."""
        self._truth: Path = cluster.logs / "story.jsonl"
        self._file: TextIO | None = None
        self._say = say
        self.stage = Stage(
            cluster, "run", seed, speed=speed, timeout_s=_PATIENCE_S, on_truth=self._write, say=say
        )
        self.members = [ZooKeeperRegular(self.stage, plan_join(name)) for name in REGULARS]
        # Comes with the story.
        self.kafka_member = KafkaRegular(self.stage, plan_kafka_join("one"))

    def start(self, timeout_s: float = 60.0) -> None:
        """Create the topic if it is not there; the members join one after the other."""
        self._say(f"topic {TOPIC}, and group {GROUP} of {len(self.members)} consumers")
        self._file = self._truth.open("a")
        self.stage.start(timeout_s)
        cluster = self.stage.cluster
        if self.stage.read(f"/brokers/topics/{TOPIC}") is None:
            cluster.create_topic(TOPIC, PARTITIONS, min(3, len(cluster.brokers)), _SETTINGS)
        for member in self.members:
            member.launch()

    def dismiss_guests(self) -> None:
        """End whoever is not a regular member."""
        for name in self.stage.members.keys() - {member.name for member in self.members}:
            self.stage.members.pop(name).close()
        for key in self.stage.kafka_members.keys() - {self.kafka_member.key}:
            self.stage.kafka_members.pop(key).close()

    def close(self) -> None:
        """End the members: in order, so that the next run need not wait for their sessions."""
        for member in (*self.members, self.kafka_member):
            member.stop()
        self.stage.close()
        if self._file is not None:
            self._file.close()

    def _write(self, fact: Fact) -> None:
        if self._file is not None:
            print(fact.to_json(), file=self._file, flush=True)
