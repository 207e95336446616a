"""Somebody who looks at committed offsets and log ends once a second, and knows nothing of ours.

It reads ZooKeeper and asks the brokers by itself, and writes down when it began and ended to look.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Event as Flag
from threading import Thread

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, OffsetSpec
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

from tests.e2e.live_truth import Log, Place, read_offsets, read_zookeeper_groups

_EVERY_S = 1.0


@dataclass(frozen=True)
class Look:
    """What was seen between two moments (ms)."""

    began_ms: int
    ended_ms: int
    committed: dict[Place, int]
    ends: dict[Log, int]


class Sampler(Thread):
    """Looks until it is stopped; a look that fails, because a broker is away, is left out."""

    def __init__(self, zookeeper: str, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.looks: list[Look] = []
        self._zookeeper, self._brokers, self._is_over = zookeeper, bootstrap, Flag()

    def run(self) -> None:
        """Look, and look again."""
        admin = AdminClient({"bootstrap.servers": self._brokers, "log_level": 2})
        client = KazooClient(self._zookeeper)
        client.start()
        while not self._is_over.wait(_EVERY_S):
            with suppress(KafkaException, KazooException, TimeoutError):
                self.looks.append(self._look(admin, client))
        client.stop()
        client.close()

    def stop(self) -> None:
        """Look no more."""
        self._is_over.set()
        self.join()

    def _look(self, admin: AdminClient, client: KazooClient) -> Look:
        began_ms = _now_ms()
        _, committed = read_zookeeper_groups(client)
        metadata = admin.list_topics(timeout=5)
        logs = [
            (name, number)
            for name, topic in metadata.topics.items()
            if name[:2] != "__"
            for number, partition in topic.partitions.items()
            if partition.leader >= 0
        ]
        ends = read_offsets(admin, logs, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        return Look(began_ms, _now_ms(), committed, ends)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
