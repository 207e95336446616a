"""The real Burrow (Debian's package), watching a cluster of the lab. Knows nothing of us."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from lab.ports import find_free_ports
from zklake.supervision.child_process import ChildProcess

PROGRAM = shutil.which("Burrow")
CLUSTER = "lab"
# Its own defaults, but for the refreshes: a story's seconds are somebody's minutes.
_CONFIG = """
[general]
pidfile="{directory}/burrow.pid"

[logging]
filename="{directory}/burrow.log"
level="info"

[zookeeper]
servers=["{zookeeper}"]
timeout=6
root-path="/burrow"

[client-profile.lab]
client-id="burrow"
kafka-version="2.1.0"

[cluster.{cluster}]
class-name="kafka"
servers=["{bootstrap}"]
client-profile="lab"
topic-refresh=5
offset-refresh={refresh_s}

[consumer.{cluster}]
class-name="kafka_zk"
cluster="{cluster}"
servers=["{zookeeper}"]
zookeeper-timeout=6

[httpserver.default]
address="127.0.0.1:{port}"

[storage.default]
class-name="inmemory"
intervals=10
expire-group=604800
min-distance=1

[evaluator.default]
class-name="caching"
expire-cache=1
"""


class BurrowProcess:
    """One Burrow; it forgets everything when it stops."""

    def __init__(self, zookeeper: str, bootstrap: str, directory: Path, refresh_s: int) -> None:
        assert PROGRAM is not None
        self.address = f"http://127.0.0.1:{find_free_ports(1)[0]}"
        directory.mkdir()
        config = _CONFIG.format(
            directory=directory,
            zookeeper=zookeeper,
            bootstrap=bootstrap,
            cluster=CLUSTER,
            refresh_s=refresh_s,
            port=self.address.rpartition(":")[2],
        )
        (directory / "burrow.toml").write_text(config)
        self.process = ChildProcess(
            [PROGRAM, "-config-dir", str(directory)], directory / "output.log"
        )

    def is_alive(self) -> bool:
        """Whether it answers its health check."""
        try:
            with urlopen(f"{self.address}/burrow/admin", timeout=2) as answer:
                return bool(answer.read() == b"GOOD")
        except OSError:
            return False

    def ask(self, path: str) -> dict[str, Any]:
        """Its answer below /v3/kafka/<cluster>, also of a 404."""
        try:
            with urlopen(f"{self.address}/v3/kafka/{CLUSTER}{path}", timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)
        except HTTPError as error:
            with error:
                found = json.load(error)
        return found

    def __enter__(self) -> BurrowProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.is_alive():
            self.process.kill()
