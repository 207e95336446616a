"""The clients of `zklake run`: a topic and a group that reads it: there is more to ask about.

Their names are those of the examples in examples/queries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.cluster import Cluster
from lab.server import Startable
from lab.zookeeper_consumer.process import ConsumerProcess

TOPIC, GROUP, PARTITIONS = "orders", "readers", 4


class Shop(Startable):
    """Four partitions of `orders`, and `readers_a` and `readers_b` who share them."""

    def __init__(self, cluster: Cluster, directory: Path, *, say: Callable[[str], None]) -> None:
        """Nothing starts yet."""
        self._cluster = cluster
        self._say = say
        self._members = [
            ConsumerProcess(
                cluster.zookeeper_connect,
                GROUP,
                topics=[TOPIC],
                member_suffix=name,
                bootstrap=cluster.bootstrap,
                log_file=directory / f"{GROUP}_{name}.log",
            )
            for name in "ab"
        ]

    def start(self, timeout_s: float = 60.0) -> None:
        """Create the topic; the members join one after the other."""
        self._say(f"topic {TOPIC}, and group {GROUP} of {len(self._members)} consumers")
        self._cluster.create_topic(TOPIC, PARTITIONS, min(3, len(self._cluster.brokers)))
        for member in self._members:
            member.start(timeout_s)

    def close(self) -> None:
        """End the members."""
        for member in self._members:
            member.close()
