"""Where a story runs: one cluster, its clients, its consumers, and the truth being written.

Knows how to ask; what a story does and what must then hold stands in the acts and the looks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import ZnodeStat

from lab.cluster import Cluster
from lab.kafka import KafkaBroker
from lab.kafka_consumer import KafkaMember
from lab.stories.patience import StoryTimeouts
from lab.stories.truth import Fact, Truth
from lab.zookeeper_consumer.process import ConsumerProcess
from zklake.errors import LabError
from zklake.supervision.startable import Startable


class ZnodeReading(NamedTuple):
    """One znode as it was read."""

    data: bytes
    stat: ZnodeStat


class Stage(Startable):
    """One story's means: `with Stage(…) as stage: story.run(stage)`."""

    def __init__(
        self,
        cluster: Cluster,
        story: str,
        seed: int,
        *,
        speed: float,
        timeout_s: float,
        on_truth: Callable[[Fact], None],
        say: Callable[[str], None],
    ) -> None:
        """Nothing starts yet. Each act and each look has `timeout_s` to come true."""
        self.cluster = cluster
        self.seed = seed
        self.say = say
        self.truth = Truth(story, seed, on_truth)
        self.patience = StoryTimeouts(timeout_s, cluster.logs)
        self.zookeeper = KazooClient(cluster.zookeeper_connect)
        self.renew_admin()
        self.members: dict[str, ConsumerProcess] = {}
        # By group and client id.
        self.kafka_members: dict[tuple[str, str], KafkaMember] = {}
        # When members were killed that ZooKeeper still takes for alive.
        self.killed_ms: dict[str, int] = {}
        # Sessions that write what a member would, by member id.
        self.impostors: dict[str, KazooClient] = {}
        self._speed = speed

    def start(self, timeout_s: float = 60.0) -> None:
        """Connect to ZooKeeper."""
        self.zookeeper.start(timeout=timeout_s)

    def close(self) -> None:
        """End the consumers that still run, and the stage's own session."""
        for member in (*self.members.values(), *self.kafka_members.values()):
            member.close()
        for client in (*self.impostors.values(), self.zookeeper):
            client.stop()
            client.close()

    def renew_admin(self) -> None:
        """An admin client that remembers nothing: librdkafka never forgets a group's coordinator.

        Once that has moved to another broker, every answer about the group is NOT_COORDINATOR.
        """
        # Brokers come and go on stage: a refused connection is no news.
        self.admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap, "log_level": 2})

    def sleep(self, ms: int) -> None:
        """So long at speed 1."""
        time.sleep(self.scale_ms(ms) / 1000)

    def scale_ms(self, ms: int) -> int:
        """How long that is at the stage's speed."""
        return round(ms / self._speed)

    def read(self, path: str) -> ZnodeReading | None:
        """One znode; None when it is not there."""
        try:
            data, stat = self.zookeeper.retry(self.zookeeper.get, path)
        except NoNodeError:
            return None
        return ZnodeReading(data or b"", stat)

    def read_json(self, path: str) -> Any:
        """One znode's JSON; None when it is not there, or empty."""
        reading = self.read(path)
        return json.loads(reading.data) if reading and reading.data else None

    def list_children(self, path: str) -> list[str]:
        """Names below a path; none when it is not there."""
        try:
            return sorted(self.zookeeper.retry(self.zookeeper.get_children, path))
        except NoNodeError:
            return []

    def wait_until_gone(self, path: str) -> None:
        """Wait until a znode is not there."""
        self.patience.wait_for(lambda: self.read(path) is None, f"the end of {path}")

    def ask_metadata(self) -> ClusterMetadata | None:
        """What the brokers say of the cluster; None while nobody answers."""
        try:
            return self.admin.list_topics(timeout=5)
        except KafkaException:
            return None

    def find_broker(self, who: int | str) -> KafkaBroker:
        """By id, or the one that is `controller` or `dead` now."""
        if who == "controller":
            node = self.patience.wait_for(lambda: self.read_json("/controller"), "/controller")
            who = int(node["brokerid"])
        for broker in self.cluster.brokers:
            if broker.broker_id == who or (who == "dead" and not broker.is_alive()):
                return broker
        raise LabError(f"no broker of {self.cluster.bootstrap} is {who}")

    def list_living_brokers(self) -> set[int]:
        """The ids of the brokers whose process runs."""
        return {broker.broker_id for broker in self.cluster.brokers if broker.is_alive()}
