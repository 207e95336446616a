"""jars.lock: which JARs, in which named sets, with which sha256. Text in, text out, no network."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zklake.errors import JarError

HEAD = """\
# The JARs zklake runs on: Maven coordinates and their sha256, in named sets.
# Made by `zklake jars lock` from zklake/jars/wanted.py; do not edit by hand.
"""
_PART = re.compile(r"[\w.-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BARE_KEY = re.compile(r"[\w-]+")


class Coordinate(NamedTuple):
    """A JAR in a Maven repository."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        """The name in our cache: two groups may carry an artifact of the same name."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"


# Set name -> coordinate -> sha256.
Lock = Mapping[str, Mapping[Coordinate, str]]


def parse_coordinate(text: str) -> Coordinate:
    """`group:artifact:version`, each part safe to stand in a file name and in XML."""
    parts = text.split(":")
    if len(parts) != 3 or not all(_PART.fullmatch(part) for part in parts):
        raise JarError(f"{text!r} is not a group:artifact:version coordinate")
    return Coordinate(*parts)


def parse_lock(text: str, origin: str = "jars.lock") -> Lock:
    """The sets of a lock; whatever is not one is named with the file it stands in."""
    try:
        return {
            name: {parse_coordinate(key): _check_hash(key, value) for key, value in jars.items()}
            for name, jars in tomllib.loads(text).items()
        }
    except (tomllib.TOMLDecodeError, AttributeError, JarError) as error:
        raise JarError(
            f"{origin} is not a JAR lock: {error}; restore it from version control"
        ) from (error)


def format_lock(lock: Lock) -> str:
    """The lock as TOML, sorted, so that two runs differ only where the JARs do."""
    lines = [HEAD]
    for name, jars in lock.items():
        lines.append(f"[{name}]" if _BARE_KEY.fullmatch(name) else f'["{name}"]')
        lines += [f'"{coordinate}" = "{sha256}"' for coordinate, sha256 in sorted(jars.items())]
        lines.append("")
    return "\n".join(lines)


def read_lock(path: Path) -> Lock:
    """The lock in a file."""
    try:
        return parse_lock(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise JarError(f"cannot read {path}: {error.strerror}; run `zklake jars lock`") from error


def write_lock(path: Path, lock: Lock) -> None:
    """Put a lock in place in one step: a reader sees the old one or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(format_lock(lock), encoding="utf-8")
    os.replace(draft, path)


def _check_hash(key: str, value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise JarError(f"{key} has no sha256 of 64 hex digits")
    return value
