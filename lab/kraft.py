"""A real KRaft controller 3.9.2 on 127.0.0.1 that takes a ZooKeeper cluster over (KIP-866).

with Cluster(settings=BRIDGE) as cluster, KraftController(cluster) as kraft:
    kraft.enrol(cluster.brokers[0]); kraft.wait_for_dual_write()

Rolling back, by Kafka's guide: stop the controller, delete /controller, `release` every broker.
"""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Sequence

from kazoo.exceptions import NoNodeError

from lab.cluster import Cluster
from lab.kafka import LOG4J, KafkaBroker, list_jars
from lab.ports import find_free_ports
from lab.server import Server, find_java, wait_until
from lab.zookeeper_consumer.session import closing_client
from zklake.errors import LabError

# What every broker must run with before the move may begin.
BRIDGE = {"inter.broker.protocol.version": "3.9"}
_LISTENER = "CONTROLLER"


class KraftController(Server):
    """The only voter of a quorum; its id is no broker's."""

    def __init__(self, cluster: Cluster, *, node_id: int = 3000) -> None:
        """Nothing starts yet; its data lies beside that of the brokers."""
        name = f"kraft-{node_id}"
        super().__init__(name, find_free_ports(1)[0], cluster.directory / name)
        self.node_id = node_id
        self._zookeeper_connect = cluster.zookeeper_connect
        self._data_dir = self.directory / "data"

    def command(self) -> Sequence[str]:
        """Write controller.properties; return the JVM's arguments."""
        config, log4j = self.directory / "server.properties", self.directory / "log4j.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in self._config().items()))
        log4j.write_text(LOG4J)
        options = ["-Xmx300m", f"-Dlog4j.configuration=file:{log4j}", "-cp", list_jars()]
        return [*options, "kafka.Kafka", str(config)]

    def launch(self) -> None:
        """Start the JVM; a new directory is formatted first, with the id of the watched cluster."""
        if not self._data_dir.exists():
            self._format()
        super().launch()

    def is_ready(self) -> bool:
        """Whether its port is open."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
        except OSError:
            return False
        return True

    def enrol(self, broker: KafkaBroker) -> None:
        """Restart a broker in migration mode: it knows both ZooKeeper and this controller."""
        broker.settings |= self._migration_mode()
        broker.restart()

    def release(self, broker: KafkaBroker) -> None:
        """Restart a broker as it was before: ZooKeeper is all it knows."""
        for key in self._migration_mode():
            broker.settings.pop(key, None)
        broker.restart()

    def wait_for_dual_write(self, timeout_s: float = 120.0) -> None:
        """Wait until the tree is copied: from then on every change goes to both sides."""
        with closing_client(self._zookeeper_connect) as client:

            def is_copied() -> bool:
                try:
                    said = json.loads(client.get("/migration")[0])
                except NoNodeError:
                    return False
                return bool(said["kraft_metadata_offset"] >= 0)

            wait_until(is_copied, [self], "copy the tree", timeout_s)

    def _format(self) -> None:
        with closing_client(self._zookeeper_connect) as client:
            cluster_id = json.loads(client.get("/cluster/id")[0])["id"]
        *options, _, config = self.command()
        tool = ["kafka.tools.StorageTool", "format", "--config", config]
        # An id may begin with a dash.
        command = [find_java(), *options, *tool, f"--cluster-id={cluster_id}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise LabError(f"{self.name} cannot be formatted: {done.stdout}{done.stderr}")

    def _config(self) -> dict[str, str]:
        return {
            "process.roles": "controller",
            "node.id": str(self.node_id),
            "listeners": f"{_LISTENER}://{self.address}",
            "log.dirs": str(self._data_dir),
            "zookeeper.connect": self._zookeeper_connect,
            **self._migration_mode(),
        }

    def _migration_mode(self) -> dict[str, str]:
        return {
            "zookeeper.metadata.migration.enable": "true",
            "controller.quorum.voters": f"{self.node_id}@{self.address}",
            "controller.listener.names": _LISTENER,
            "listener.security.protocol.map": f"{_LISTENER}:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        }
