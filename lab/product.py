"""The whole product on a cluster of the lab: watcher and stream as processes of their own.

They are the commands a user would run; what one of them says goes to its log file.
"""

from __future__ import annotations

import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.leash import Leash
from lab.ports import find_free_ports
from lab.server import Startable
from zklake.errors import LabError, QueryError

_POLL_S = 0.25


class Part:
    """One command of zklake as a child process, with its health endpoint."""

    def __init__(self, command: str, options: list[str], directory: Path) -> None:
        self.name = command
        self.http = f"127.0.0.1:{find_free_ports(1)[0]}"
        group = {"watch": "WATCHER", "stream": "STREAM"}[command]
        listen = f"ZKLAKE_{group}__HTTP={self.http}"
        self.leash = Leash(
            ["env", listen, sys.executable, "-m", "zklake", command, *options],
            directory / f"{command}.log",
        )

    def find_obstacle(self) -> str | None:
        """What its /readyz says against it; None when it is ready."""
        if not self.leash.is_alive():
            raise LabError(
                f"zklake {self.name} ended with exit code {self.leash.exit_code}; "
                f"its log {self.leash.log_file} ends:\n{self.leash.tail()}"
            )
        try:
            with urllib.request.urlopen(f"http://{self.http}/readyz", timeout=2):
                return None
        except urllib.error.HTTPError as error:
            with error:
                return error.read().decode(errors="replace").strip()
        except OSError:
            return "does not answer yet"

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until nothing speaks against it."""
        deadline = time.monotonic() + timeout_s
        while obstacle := self.find_obstacle():
            if time.monotonic() > deadline:
                raise LabError(
                    f"zklake {self.name} is not ready after {timeout_s:.0f} s ({obstacle}); "
                    f"its log {self.leash.log_file} ends:\n{self.leash.tail()}"
                )
            time.sleep(_POLL_S)


class Product(Startable):
    """Watcher and stream over one cluster; `with Product(cluster, directory) as product: …`."""

    def __init__(
        self, cluster: Cluster, directory: Path, *, say: Callable[[str], None], name: str = "lab"
    ) -> None:
        self.name = name
        self.lake = str(directory / "lake")
        self.parts: list[Part] = []
        self._cluster = cluster
        self._directory = directory
        self._say = say

    def start(self, timeout_s: float = 600.0) -> None:
        """Start the watcher, then the stream; each has so long to be ready."""
        log = ["--log", self._cluster.bootstrap, "--cluster", self.name]
        watched = ["--zookeeper", self._cluster.zookeeper_connect]
        self._start("watch", [*watched, *log], timeout_s)
        self._start("stream", [*log, "--lake", self.lake], timeout_s)

    def close(self) -> None:
        """Stop what was started, the stream first."""
        for part in reversed(self.parts):
            part.leash.ask_to_stop()
        for part in reversed(self.parts):
            part.leash.stop(timeout_s=15)
        self.parts.clear()

    def read(self, sql: str) -> list[dict[str, Any]]:
        """Ask the lake; no rows while a table is still missing."""
        try:
            return read_rows(self.lake, self.name, sql)
        except QueryError:
            return []

    def wait_for(
        self,
        what: str,
        sql: str,
        is_enough: Callable[[list[dict[str, Any]]], bool],
        timeout_s: float = 300.0,
    ) -> list[dict[str, Any]]:
        """Ask again and again until the rows are there."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for part in self.parts:
                part.find_obstacle()
            rows = self.read(sql)
            if is_enough(rows):
                return rows
            time.sleep(_POLL_S)
        raise LabError(f"{what}: not seen in the lake {self.lake} within {timeout_s:.0f} s")

    def _start(self, command: str, options: list[str], timeout_s: float) -> None:
        self._say(f"starting zklake {command}")
        part = Part(command, options, self._directory)
        self.parts.append(part)
        part.wait_ready(timeout_s)
