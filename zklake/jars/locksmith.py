"""Makes a lock from the wanted list: resolve, hash, and refuse what could not run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from zklake.errors import JarError
from zklake.jars.cache import hash_file
from zklake.jars.ivy import resolve
from zklake.jars.lock import Coordinate, Lock
from zklake.jars.progress import JarProgress
from zklake.jars.wanted import WANTED, JarSet

# More than one on a class path, and slf4j picks any of them.
_BINDINGS = ("slf4j-reload4j", "slf4j-log4j12", "slf4j-simple", "slf4j-nop", "logback-classic")


def make_lock(
    progress: JarProgress, settings: Path | None = None, wanted: Sequence[JarSet] = WANTED
) -> Lock:
    """Resolve every wanted set afresh and hash what came."""
    lock = {}
    for entry in wanted:
        progress.fetch(entry.name, 0 if entry.transitive else len(entry.coordinates))
        with tempfile.TemporaryDirectory(prefix="zklake-lock-") as into:
            found = resolve(entry, Path(into), progress.advance, settings)
            check_bindings(entry.name, found)
            lock[entry.name] = {jar: hash_file(path) for jar, path in found.items()}
    return lock


def check_bindings(set_name: str, jars: Iterable[Coordinate]) -> None:
    """Refuse a set with two logging back ends."""
    bindings = [str(jar) for jar in jars if jar.artifact in _BINDINGS]
    if len(bindings) > 1:
        raise JarError(
            f"the set {set_name} has {len(bindings)} slf4j bindings ({', '.join(bindings)}): name "
            "all but one under `without` in zklake/jars/wanted.py"
        )
