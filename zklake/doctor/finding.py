"""What a check says, and what every check is given. Plain values: a test can give others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, NamedTuple

from zklake.jars.cache import JarCache
from zklake.settings.load import Loaded
from zklake.settings.models import LogSettings, WatchedSettings, ZooKeeperSettings

State = Literal["ok", "warn", "fail"]


class Finding(NamedTuple):
    """One line of the report; `fix` is empty when there is nothing to do."""

    check: str
    state: State
    found: str
    fix: str = ""


def installed_version(package: str) -> str | None:
    """The version of an installed package, without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Subject:
    """The machine, and the servers to look at with what lets us in there."""

    jars: JarCache
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    version_of: Callable[[str], str | None] = installed_version
    # HOST:PORT where each daemon answers over HTTP.
    listens: Mapping[str, str] = field(default_factory=dict)
    lake: Path | None = None
    zookeeper: ZooKeeperSettings | None = None
    log: LogSettings | None = None
    watched: WatchedSettings | None = None
    # For each step towards a server; ZooKeeper takes four steps, and a check at most 10 s.
    wait_s: float = 2.0


def choose_subject(jars: JarCache, loaded: Loaded) -> Subject:
    """What the settings say; of servers and the lake only what somebody gave, no default."""
    settings, given = loaded.settings, loaded.origins
    listens = {
        "watcher": settings.watcher.http,
        "stream": settings.stream.http,
        "dashboard": settings.dashboard.http,
        "alerts": settings.alerts.http,
    }
    has_lake = "lake.path" in given and "://" not in settings.lake.path
    return Subject(
        jars,
        # Port 0 takes a free one.
        listens={name: at for name, at in listens.items() if at and not at.endswith(":0")},
        lake=Path(settings.lake.path) if has_lake else None,
        zookeeper=settings.zookeeper if "zookeeper.connect" in given else None,
        log=settings.log if "log.bootstrap" in given else None,
        watched=settings.watched if settings.watched.bootstrap else None,
    )


Check = Callable[[Subject], list[Finding]]
