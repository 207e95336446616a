"""What a person sees while JARs arrive: a bar in a terminal, plain lines elsewhere, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from zklake import progress
from zklake.jars.lock import Coordinate
from zklake.phrases import format_count


class JarProgress(Protocol):
    """Told what happens, in order."""

    def wait(self, directory: str) -> None:
        """Another process is fetching into this cache."""

    def fetch(self, set_name: str, total: int) -> None:
        """A set with this many JARs to bring begins."""

    def advance(self, jar: Coordinate) -> None:
        """A JAR has arrived."""


class JarLines:
    """Plain lines, through any function that takes one."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._set_name, self._total, self._done = "", 0, 0

    def wait(self, directory: str) -> None:
        """Say why nothing moves."""
        self._write(f"another process is fetching into {directory}: waiting for it")

    def fetch(self, set_name: str, total: int) -> None:
        """Start counting."""
        self._set_name, self._total, self._done = set_name, total, 0
        if total:
            self._write(f"{set_name}: {format_count(total, 'JAR')} to fetch")
        else:
            self._write(f"{set_name}: resolving")

    def advance(self, jar: Coordinate) -> None:
        """Count."""
        self._done += 1
        place = f"{self._done} of {self._total}" if self._total else f"{self._done}"
        self._write(f"{self._set_name}: {place}  {jar}")


class JarBar:
    """A bar of a terminal, for one set after the other."""

    def __init__(self, shown: progress.Progress) -> None:
        self._shown = shown
        self._set_name, self._total, self._done = "", 0, 0

    def wait(self, directory: str) -> None:
        """Say why nothing moves."""
        self._shown.say(f"another process is fetching into {directory}: waiting for it")

    def fetch(self, set_name: str, total: int) -> None:
        """Start counting."""
        self._set_name, self._total, self._done = set_name, total, 0
        self._shown.show(f"JARs of {set_name}", 0, total or None)

    def advance(self, jar: Coordinate) -> None:
        """Count."""
        self._done += 1
        self._shown.show(f"JARs of {self._set_name}", self._done, self._total or None)


@contextmanager
def show_progress() -> Iterator[JarProgress]:
    """A bar while stderr is a terminal; else a line for each JAR."""
    if not sys.stderr.isatty():
        yield JarLines(lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201
        return
    with progress.show_progress() as shown:
        yield JarBar(shown)
