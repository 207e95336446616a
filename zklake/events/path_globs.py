"""Patterns of znode paths as settings give them: `*` is any part of one name, `**` any depth."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zklake.errors import SettingsError


class PathGlobs:
    """A set of patterns. `/a/**` holds for /a itself and for everything below it."""

    def __init__(self, patterns: Iterable[str]) -> None:
        expressions = [_translate(pattern) for pattern in patterns]
        self._match = re.compile("|".join(expressions)).fullmatch if expressions else None

    def holds(self, path: str) -> bool:
        """Whether one of the patterns fits the path."""
        return self._match is not None and self._match(path.rstrip("/")) is not None


def _translate(pattern: str) -> str:
    if not pattern.startswith("/"):
        raise SettingsError(
            f"znode path pattern {pattern!r} does not begin with '/': "
            "write for example /kafka-acl/** or /config/topics/*"
        )
    segments = pattern.rstrip("/").split("/")[1:]
    return "".join(r"(?:/[^/]+)*" if name == "**" else "/" + _name(name) for name in segments)


def _name(name: str) -> str:
    return "[^/]*".join(re.escape(piece) for piece in name.split("*"))
