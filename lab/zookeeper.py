"""Real ZooKeeper servers on 127.0.0.1: each release that we must watch."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.ports import find_free_ports
from lab.server import Server
from zklake import jars
from zklake.errors import LabError

VERSIONS = ("3.9.3", "3.8.4", "3.4.10")
DEFAULT_VERSION = "3.9.3"

_LOG4J = """log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n
"""


class Member(NamedTuple):
    """One voter of an ensemble."""

    server_id: int
    quorum_port: int
    election_port: int


class ZooKeeperServer(Server):
    """One ZooKeeper server; standalone unless it is given the members of its ensemble."""

    def __init__(
        self,
        *,
        version: str = DEFAULT_VERSION,
        port: int | None = None,
        directory: Path | None = None,
        server_id: int = 1,
        members: Sequence[Member] = (),
        tick_ms: int = 500,
        fsync: bool = False,
        settings: Mapping[str, str] | None = None,
        jvm_options: Sequence[str] = (),
    ) -> None:
        """`settings` are lines of zoo.cfg; `fsync` off is safe against kill -9, not power loss."""
        if version not in VERSIONS:
            raise LabError(
                f"no ZooKeeper {version} in the lab: choose one of {', '.join(VERSIONS)}"
            )
        super().__init__(f"zookeeper-{server_id}", port or find_free_ports(1)[0], directory)
        self.version = version
        self.server_id = server_id
        self.data_dir = self.directory / "data"
        self.txn_log_dir = self.data_dir / "version-2"
        self._members = tuple(members)
        self._tick_ms = tick_ms
        self._fsync = fsync
        self._settings = dict(settings or {})
        self._jvm_options = tuple(jvm_options)

    @property
    def connect_string(self) -> str:
        """What a client is given."""
        return self.address

    def command(self) -> Sequence[str]:
        """Write zoo.cfg and myid; return the JVM's arguments."""
        self.data_dir.mkdir(exist_ok=True)
        (self.data_dir / "myid").write_text(f"{self.server_id}\n")
        config, log4j = self.directory / "zoo.cfg", self.directory / "log4j.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in self._config().items()))
        log4j.write_text(_LOG4J)
        return [
            "-Xmx256m",
            f"-Dlog4j.configuration=file:{log4j}",  # 3.8 and 3.4: log4j 1
            "-Dzookeeper.jmx.log4j.disable=true",  # 3.4 wants classes that reload4j dropped
            "-Dlog4j2.level=INFO",  # 3.9 out of pyspark's jars: log4j 2
            f"-Dzookeeper.forceSync={'yes' if self._fsync else 'no'}",
            "-Dzookeeper.extendedTypesEnabled=true",  # TTL nodes
            *self._jvm_options,
            "-cp",
            _classpath(self.version),
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            str(config),
        ]

    def mode(self) -> str | None:
        """`standalone`, `leader` or `follower`; None while it does not serve."""
        for line in self.ask("srvr").splitlines():
            if line.startswith("Mode: "):
                return line.removeprefix("Mode: ")
        return None

    def is_ready(self) -> bool:
        """Whether `srvr` names a mode: before, the port is open but nothing is served."""
        return self.mode() is not None

    def ask(self, word: str, timeout_s: float = 2.0) -> str:
        """Send a four-letter word; empty when nobody answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout_s) as connection:
                connection.sendall(word.encode())
                with connection.makefile("rb") as reply:
                    return reply.read().decode()
        except OSError:
            return ""

    def _config(self) -> dict[str, str]:
        return {
            "tickTime": str(self._tick_ms),
            "initLimit": "20",
            "syncLimit": "10",
            "dataDir": str(self.data_dir),
            "clientPort": str(self.port),
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": "0",
            "admin.enableServer": "false",  # it needs Jetty and a fixed port
            "4lw.commands.whitelist": "*",
            **{
                f"server.{member.server_id}": (
                    f"127.0.0.1:{member.quorum_port}:{member.election_port}"
                )
                for member in self._members
            },
            **self._settings,
        }


def _classpath(version: str) -> str:
    if version == "3.9.3":
        return f"{jars.pyspark_jars_dir()}/*"
    release = version.rpartition(".")[0]
    return ":".join(str(path) for path in jars.ensure(f"zookeeper-{release}"))
