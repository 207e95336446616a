"""A whole Kafka cluster in ZooKeeper mode: `with Cluster(brokers=3) as cluster: …`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lab.ensemble import ZooKeeperEnsemble
from lab.kafka import KafkaBroker, find_brokers
from lab.ports import find_free_ports
from lab.server import Server, WorkDirectory, wait_until
from lab.zookeeper import DEFAULT_VERSION
from zklake.supervision.startable import Startable


def _discard(line: str) -> None:
    pass


def _choose_any_port(server: str) -> int:
    return find_free_ports(1)[0]


class Cluster(Startable):
    """Brokers and their ZooKeeper; ready when each broker's metadata names all of them."""

    def __init__(
        self,
        brokers: int = 1,
        zookeepers: int = 1,
        *,
        zookeeper_version: str = DEFAULT_VERSION,
        chroot: str = "",
        directory: Path | None = None,
        logs: Path | None = None,
        choose_port: Callable[[str], int] = _choose_any_port,
        tick_ms: int = 500,
        session_timeout_ms: int = 6_000,
        settings: Mapping[str, str] | None = None,
        say: Callable[[str], None] = _discard,
    ) -> None:
        """Nothing starts yet. `settings` are lines of every broker's server.properties.

        Each server logs into its own directory, unless there is one for all `logs`.
        """
        self._place = WorkDirectory(directory)
        self.directory = self._place.path
        self.logs = logs or self.directory
        self._say = say
        self.zookeeper = ZooKeeperEnsemble(
            zookeepers,
            version=zookeeper_version,
            client_ports=[choose_port(f"zookeeper-{i + 1}") for i in range(zookeepers)],
            directory=self.directory,
            tick_ms=tick_ms,
        )
        self.zookeeper_connect = self.zookeeper.connect_string + chroot
        self.brokers = [
            KafkaBroker(
                self.zookeeper_connect,
                broker_id=broker_id,
                port=choose_port(f"broker-{broker_id}"),
                cluster_size=brokers,
                directory=self.directory / f"broker-{broker_id}",
                session_timeout_ms=session_timeout_ms,
                settings=settings,
            )
            for broker_id in range(brokers)
        ]
        for server in self.servers if logs else ():
            server.log_file = self.logs / f"{server.name}.log"

    @property
    def bootstrap(self) -> str:
        """What a client is given: every broker."""
        return ",".join(broker.address for broker in self.brokers)

    @property
    def servers(self) -> list[Server]:
        """Every server, ZooKeeper first."""
        return [*self.zookeeper.servers, *self.brokers]

    def start(self, timeout_s: float = 60.0) -> None:
        """Start ZooKeeper, then all brokers side by side, and wait until they know each other."""
        self._say(f"starting {len(self.zookeeper.servers)} ZooKeeper server(s)")
        self.zookeeper.start(timeout_s)
        self._say(f"starting {len(self.brokers)} Kafka broker(s)")
        for broker in self.brokers:
            broker.launch()
        _wait_for(self.brokers, timeout_s)

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait until each broker that is awake names all the others that are."""
        _wait_for([broker for broker in self.brokers if broker.is_awake()], timeout_s)

    def create_topic(
        self,
        topic: str,
        partitions: int = 1,
        replication: int = 1,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic and wait until the controller has it."""
        # Metadata names a broker a moment before it accepts connections: that is no news.
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 2})
        wanted = NewTopic(topic, partitions, replication, config=dict(settings or {}))
        admin.create_topics([wanted])[topic].result(30)

    def close(self) -> None:
        """End everything: at once when the data goes too, else brokers first and in order."""
        alive = [server for server in self.servers if server.is_alive()]
        if self._place.is_temporary:
            for server in alive:
                server.kill()
        for broker in self.brokers:
            if broker.is_alive():
                broker.ask_to_stop()
        for broker in self.brokers:
            broker.close()
        self.zookeeper.close()
        self._place.clear()

    def describe(self) -> dict[str, Any]:
        """Addresses, process ids and directories, as plain values."""
        return {
            "zookeeper": self.zookeeper_connect,
            "bootstrap": self.bootstrap,
            "directory": str(self.directory),
            "servers": [
                {"name": s.name, "address": s.address, "pid": s.pid, "log": str(s.log_file)}
                for s in self.servers
            ],
        }


def _wait_for(brokers: Sequence[KafkaBroker], timeout_s: float) -> None:
    # Each broker has metadata of its own: that one names them all does not mean that the next does.
    ids = {broker.broker_id for broker in brokers}
    wait_until(
        lambda: all(find_brokers(broker.address) >= ids for broker in brokers),
        brokers,
        "join the cluster",
        timeout_s,
    )
