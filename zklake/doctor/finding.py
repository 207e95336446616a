"""What a check says, and what every check is given. Plain values: a test can give others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, NamedTuple

from zklake.jars.cache import JarCache

State = Literal["ok", "warn", "fail"]

# The HTTP ports of the three daemons, unless settings say otherwise.
DEFAULT_PORTS: Mapping[str, int] = {"watcher": 9464, "stream": 9465, "dashboard": 8080}


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
    """The machine and the addresses to look at."""

    jars: JarCache
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    version_of: Callable[[str], str | None] = installed_version
    ports: Mapping[str, int] = field(default_factory=lambda: DEFAULT_PORTS)
    lake: Path | None = None
    zookeeper: str | None = None
    log: str | None = None
    watched: str | None = None
    # For each step towards a server; ZooKeeper takes four steps, and a check at most 10 s.
    wait_s: float = 2.0


Check = Callable[[Subject], list[Finding]]
