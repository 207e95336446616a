"""Several ZooKeeper servers with one leader, each of which can be killed or paused alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.ports import find_free_ports
from lab.server import WorkDirectory, wait_until
from lab.zookeeper import DEFAULT_VERSION, Member, ZooKeeperServer
from zklake.supervision.startable import Startable


class ZooKeeperEnsemble(Startable):
    """Several servers with one leader; ready when one leads and all others follow."""

    def __init__(
        self,
        size: int = 3,
        *,
        version: str = DEFAULT_VERSION,
        client_ports: Sequence[int] = (),
        directory: Path | None = None,
        tick_ms: int = 500,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing starts yet. `client_ports`: one for each server, if not any free ones."""
        self._place = WorkDirectory(directory)
        client_ports = client_ports or find_free_ports(size)
        ports = find_free_ports(2 * size)
        members = [Member(i + 1, ports[2 * i], ports[2 * i + 1]) for i in range(size)]
        self.servers = [
            ZooKeeperServer(
                version=version,
                port=client_port,
                directory=self._place.path / f"zookeeper-{member.server_id}",
                server_id=member.server_id,
                members=members if size > 1 else (),
                tick_ms=tick_ms,
                settings=settings,
            )
            for member, client_port in zip(members, client_ports, strict=True)
        ]

    @property
    def connect_string(self) -> str:
        """What a client is given: every server."""
        return ",".join(server.address for server in self.servers)

    def leader(self) -> ZooKeeperServer | None:
        """The server that leads now (or stands alone)."""
        return next((s for s in self._awake() if s.mode() in ("leader", "standalone")), None)

    def followers(self) -> list[ZooKeeperServer]:
        """The servers that follow now."""
        return [server for server in self._awake() if server.mode() == "follower"]

    def is_ready(self) -> bool:
        """Whether every server that is awake serves, under one leader."""
        modes = sorted(server.mode() or "" for server in self._awake())
        return modes in (["standalone"], ["follower"] * (len(modes) - 1) + ["leader"])

    def start(self, timeout_s: float = 60.0) -> None:
        """Start all servers side by side and wait for a leader and its followers."""
        for server in self.servers:
            server.launch()
        wait_until(self.is_ready, self.servers, "elect a leader", timeout_s)

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait until the servers that are awake have a leader and follow it."""
        wait_until(self.is_ready, self._awake(), "elect a leader", timeout_s)

    def close(self) -> None:
        """End all servers: at once when their data goes too, else in order."""
        alive = [server for server in self.servers if server.is_alive()]
        for server in alive:
            server.kill() if self._place.is_temporary else server.ask_to_stop()
        for server in self.servers:
            server.close()
        self._place.clear()

    def _awake(self) -> list[ZooKeeperServer]:
        return [server for server in self.servers if server.is_awake()]
