"""One command of zklake as a child process: watcher, stream, dashboard or auditor, anywhere.

They are the commands a user would run; what one of them says goes to its log file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from zklake.errors import Fenced, JarError, JavaError, OtherLog, SettingsError, TopicRefused
from zklake.supervision.readiness import ask_readiness, write_url
from zklake.supervision.restart_policy import RestartPolicy
from zklake.supervision.restartable import RestartableProcess

_SILENT = "does not answer yet"
_SETTINGS = {
    "watch": "watcher.http",
    "stream": "stream.http",
    "dashboard": "--http",
    "audit": "audit.http",
}
# What a restart does not mend. A fenced watcher must not come back: the other one would be next.
_FINAL = {
    "watch": (SettingsError, TopicRefused, Fenced),
    "stream": (SettingsError, JavaError, JarError, OtherLog),
    "dashboard": (SettingsError,),
    "audit": (SettingsError,),
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
    audit: str
    # Whether the dashboard answers by HTTPS alone (dashboard.tls_cert).
    has_tls: bool = False


class ProductPart(RestartableProcess):
    """One command of zklake as a child process, with its health endpoint."""

    def __init__(
        self,
        command: str,
        options: Sequence[str],
        http: str,
        logs: Path,
        environment: Mapping[str, str] | None = None,
        *,
        has_tls: bool = False,
    ) -> None:
        """Nothing starts yet."""
        self.name = command
        self.http = http
        # Where somebody on this machine reaches it.
        self.url = write_url(http, has_tls=has_tls)
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
        found = ask_readiness(self.url)
        if found.is_ready is None:
            return _SILENT
        return None if found.is_ready else found.says

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
        _build_audit(site, addresses.audit, logs, options),
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
    others += ["--audit-http", addresses.audit]
    return ProductPart(
        "dashboard",
        [*where, *others, *options],
        addresses.dashboard,
        logs,
        has_tls=addresses.has_tls,
    )


def _build_audit(site: Site, http: str, logs: Path, options: Sequence[str]) -> ProductPart:
    where = [*_on_log(site), "--zookeeper", site.zookeeper, "--lake", site.lake, "--follow"]
    return ProductPart("audit", [*where, *options], http, logs, {"ZKLAKE_AUDIT__HTTP": http})


def _on_log(site: Site) -> list[str]:
    return ["--log", site.log, "--cluster", site.cluster]
