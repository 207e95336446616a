"""A real Kafka 3.9.2 broker in ZooKeeper mode on 127.0.0.1."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from lab.ports import find_free_ports
from lab.server import Server
from zklake import jars
from zklake.errors import LabError

LOG4J = """log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %m (%c)%n
"""
_MIB = 1024 * 1024


class KafkaBroker(Server):
    """One broker of a cluster that lives under `zookeeper_connect` (a chroot may follow)."""

    def __init__(
        self,
        zookeeper_connect: str,
        *,
        broker_id: int = 0,
        port: int | None = None,
        cluster_size: int = 1,
        directory: Path | None = None,
        session_timeout_ms: int = 6_000,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`settings` are lines of server.properties; `cluster_size` bounds replication factors."""
        super().__init__(f"broker-{broker_id}", port or find_free_ports(1)[0], directory)
        self.broker_id = broker_id
        self.zookeeper_connect = zookeeper_connect
        self._data_dir = self.directory / "data"
        self._cluster_size = cluster_size
        self._session_timeout_ms = session_timeout_ms
        # Lines of server.properties; what is changed here holds from the next start on.
        self.settings = dict(settings or {})

    @property
    def bootstrap(self) -> str:
        """What a client is given."""
        return self.address

    def command(self) -> Sequence[str]:
        """Write server.properties; return the JVM's arguments."""
        config, log4j = self.directory / "server.properties", self.directory / "log4j.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in self._config().items()))
        log4j.write_text(LOG4J)
        return [
            "-Xmx512m",
            f"-Dlog4j.configuration=file:{log4j}",
            "-cp",
            list_jars(),
            "kafka.Kafka",
            str(config),
        ]

    def is_ready(self) -> bool:
        """Whether the broker's own metadata names it and a controller."""
        return self.broker_id in find_brokers(self.bootstrap)

    def launch(self) -> None:
        """Start the JVM; on data of an earlier run, wait first until that run's session is over."""
        if self._data_dir.exists():
            self._wait_for_expiry()
        super().launch()

    def _wait_for_expiry(self) -> None:
        # A broker that meets its own id registered by another session gives up at once.
        registration = f"/brokers/ids/{self.broker_id}"
        client = KazooClient(self.zookeeper_connect)
        try:
            client.start(timeout=15)
            deadline = time.monotonic() + 3 * self._session_timeout_ms / 1000
            while client.exists(registration):
                if time.monotonic() > deadline:
                    raise LabError(
                        f"{registration} in {self.zookeeper_connect} does not expire: "
                        "another broker runs with this id, or ZooKeeper has no quorum"
                    )
                time.sleep(0.1)
        except KazooTimeoutError as error:
            raise LabError(
                f"{self.name} cannot start: no ZooKeeper answers at {self.zookeeper_connect}"
            ) from error
        finally:
            client.stop()
            client.close()

    def _config(self) -> dict[str, str]:
        replication = str(min(3, self._cluster_size))
        return {
            "broker.id": str(self.broker_id),
            "listeners": f"PLAINTEXT://{self.address}",
            "log.dirs": str(self._data_dir),
            "zookeeper.connect": self.zookeeper_connect,
            "zookeeper.session.timeout.ms": str(self._session_timeout_ms),
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": replication,
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": replication,
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            # The cleaner must run (the tree topic is compacted), in a small heap and without naps.
            "log.cleaner.dedupe.buffer.size": str(4 * _MIB),
            "log.cleaner.backoff.ms": "1000",
            # The last broker has nobody to hand its partitions to: do not wait for one.
            "controlled.shutdown.max.retries": "1",
            "controlled.shutdown.retry.backoff.ms": "200",
            "num.network.threads": "2",
            "num.io.threads": "4",
            "background.threads": "2",
            **self.settings,
        }


def list_jars() -> str:
    """The class path of Kafka 3.9.2."""
    return ":".join(str(path) for path in jars.ensure("kafka"))


def find_brokers(bootstrap: str, timeout_s: float = 2.0) -> set[int]:
    """The ids that the cluster's metadata names; empty while nobody answers or nobody controls."""
    admin = AdminClient(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 2,  # else every refused connection becomes a line on stderr
            "reconnect.backoff.max.ms": 200,
        }
    )
    try:
        metadata = admin.list_topics(timeout=timeout_s)
    except KafkaException:
        return set()
    return set(metadata.brokers) if metadata.controller_id >= 0 else set()
