"""One command of zklake as a child process: watcher, stream or dashboard, over anybody's cluster.

They are the commands a user would run; what one of them says goes to its log file.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from zklake.errors import Fenced, JarError, JavaError, OtherLog, SettingsError, TopicRefused
from zklake.supervision.restart_policy import RestartPolicy
from zklake.supervision.restartable import RestartableProcess

_SILENT = "does not answer yet"
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104
_SETTINGS = {"watch": "watcher.http", "stream": "stream.http", "dashboard": "--http"}
# What a restart does not mend. A fenced watcher must not come back: the other one would be next.
_FINAL = {
    "watch": (SettingsError, TopicRefused, Fenced),
    "stream": (SettingsError, JavaError, JarError, OtherLog),
    "dashboard": (SettingsError,),
}


class Site(NamedTuple):
    """What is watched, where its log is, and where its tables go."""

    zookeeper: str
    log: str
    cluster: str
    lake: str


class Addresses(NamedTuple):
    """Where the parts answer: HOST:PORT."""

    watch: str
    stream: str
    dashboard: str


class ProductPart(RestartableProcess):
    """One command of zklake as a child process, with its health endpoint."""

    def __init__(
        self,
        command: str,
        options: Sequence[str],
        http: str,
        logs: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing starts yet."""
        self.name = command
        self.http = http
        super().__init__(f"zklake {command}", logs / f"{command}.log")
        self.policy = RestartPolicy(final_codes=frozenset(e.exit_code for e in _FINAL[command]))
        variables = [f"{name}={value}" for name, value in (environment or {}).items()]
        self._command = ["env", *variables, sys.executable, "-m", "zklake", command, *options]

    def launch(self) -> None:
        """Start it and do not wait for it; SettingsError when another one answers in its place."""
        # Else that one's readiness would be taken for its own.
        if self.find_obstacle() != _SILENT:
            raise SettingsError(
                f"another process answers at {self.http}, where zklake {self.name} shall: "
                f"stop it, or choose another address ({_SETTINGS[self.name]})"
            )
        self._run(self._command)

    def find_obstacle(self) -> str | None:
        """What its /readyz says against it; None when it is ready."""
        host, _, port = self.http.rpartition(":")
        try:
            with urllib.request.urlopen(
                f"http://{_ANYWHERE.get(host, host)}:{port}/readyz", timeout=2
            ):
                return None
        except urllib.error.HTTPError as error:
            with error:
                return error.read().decode(errors="replace").strip() or f"says {error.code}"
        except (OSError, HTTPException):
            return _SILENT

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting; nothing if it was never started."""
        if self._process is not None:
            super().ask_to_stop()

    def stop(self, timeout_s: float = 15.0) -> None:
        """SIGTERM, then kill -9 when that takes too long; nothing if it was never started."""
        if self._process is not None:
            super().stop(timeout_s)


def build_parts(
    site: Site,
    addresses: Addresses,
    logs: Path,
    *,
    options: Sequence[str] = (),
    watch_options: Sequence[str] = (),
    watch_environment: Mapping[str, str] | None = None,
) -> list[ProductPart]:
    """Every part of the product on a site; `options` are for all of them."""
    watch = ProductPart(
        "watch",
        [*_on_log(site), "--zookeeper", site.zookeeper, *watch_options, *options],
        addresses.watch,
        logs,
        {"ZKLAKE_WATCHER__HTTP": addresses.watch, **(watch_environment or {})},
    )
    return [
        watch,
        build_stream(site, addresses.stream, logs, options),
        _build_dashboard(site, addresses, logs, options),
    ]


def build_stream(site: Site, http: str, logs: Path, options: Sequence[str] = ()) -> ProductPart:
    """`zklake stream` on a site."""
    where = [*_on_log(site), "--lake", site.lake]
    return ProductPart("stream", [*where, *options], http, logs, {"ZKLAKE_STREAM__HTTP": http})


def _build_dashboard(
    site: Site, addresses: Addresses, logs: Path, options: Sequence[str]
) -> ProductPart:
    where = ["--lake", site.lake, "--cluster", site.cluster, "--http", addresses.dashboard]
    others = ["--watcher-http", addresses.watch, "--stream-http", addresses.stream]
    return ProductPart("dashboard", [*where, *others, *options], addresses.dashboard, logs)


def _on_log(site: Site) -> list[str]:
    return ["--log", site.log, "--cluster", site.cluster]
