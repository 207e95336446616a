"""The cache of this user: every file in it was hashed before it got its name.

It knows files, hashes and the lock; where JARs come from it leaves to a Source.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from zklake.errors import JarError
from zklake.jars.lock import Coordinate, Lock
from zklake.jars.progress import JarProgress
from zklake.jars.source import Source

_DRAFTS = ".fetch-"


class JarState(NamedTuple):
    """What `verify` found of one JAR."""

    set_name: str
    coordinate: Coordinate
    path: Path
    state: Literal["ok", "missing", "wrong"]
    expected_sha256: str
    actual_sha256: str | None


@dataclass(frozen=True)
class JarCache:
    """A directory with the JARs of a lock."""

    directory: Path
    lock: Lock

    def jars(self, set_name: str) -> dict[Coordinate, str]:
        """The coordinates and hashes of a set."""
        if set_name not in self.lock:
            raise JarError(f"no JAR set {set_name!r}; use one of: {', '.join(self.lock)}")
        return dict(self.lock[set_name])

    def missing(self, set_name: str) -> list[Coordinate]:
        """What a fetch would bring. Cheap: a file only gets its name once its hash was right."""
        return [jar for jar in self.jars(set_name) if not _is_filled(self.path(jar))]

    def path(self, jar: Coordinate) -> Path:
        """Where a JAR lies, or would."""
        return self.directory / jar.file_name

    def paths(self, set_name: str) -> list[Path]:
        """Every JAR of a set, all of them there."""
        if lost := self.missing(set_name):
            raise JarError(
                f"{len(lost)} of {len(self.jars(set_name))} JARs of the set {set_name} are not in "
                f"{self.directory} (first: {lost[0]}): run `zklake jars fetch {set_name}`"
            )
        return [self.path(jar) for jar in self.jars(set_name)]

    def fetch(self, sets: Sequence[str], source: Source, progress: JarProgress) -> dict[str, int]:
        """Bring what is missing; how many came, by set. One process at a time does it."""
        if not any(map(self.missing, sets)):
            return dict.fromkeys(sets, 0)
        with self._alone(progress):
            return {name: self._fetch_set(name, source, progress) for name in sets}

    def verify(self, sets: Iterable[str] = ()) -> list[JarState]:
        """Hash every JAR of these sets (default: all)."""
        return [
            self._inspect(name, jar, sha256)
            for name in sets or self.lock
            for jar, sha256 in self.jars(name).items()
        ]

    def _fetch_set(self, set_name: str, source: Source, progress: JarProgress) -> int:
        wanted = self.missing(set_name)
        if not wanted:
            return 0
        progress.fetch(set_name, len(wanted))
        with tempfile.TemporaryDirectory(prefix=_DRAFTS, dir=self.directory) as drafts:
            source.bring(wanted, Path(drafts), progress.advance)
            for jar in wanted:
                self._accept(Path(drafts, jar.file_name), jar, self.jars(set_name)[jar], source)
        return len(wanted)

    def _accept(self, draft: Path, jar: Coordinate, expected: str, source: Source) -> None:
        actual = hash_file(draft)
        if actual != expected:
            raise JarError(
                f"{jar.file_name} from {source} is not the JAR in jars.lock: sha256 expected "
                f"{expected}, got {actual}. It was not installed: see what the mirror or directory "
                "serves; only if the new file is the right one run `zklake jars lock`"
            )
        os.replace(draft, self.path(jar))

    def _inspect(self, set_name: str, jar: Coordinate, expected: str) -> JarState:
        path = self.path(jar)
        if not path.is_file():
            return JarState(set_name, jar, path, "missing", expected, None)
        actual = hash_file(path)
        state: Literal["ok", "wrong"] = "ok" if actual == expected else "wrong"
        return JarState(set_name, jar, path, state, expected, actual)

    @contextmanager
    def _alone(self, progress: JarProgress) -> Iterator[None]:
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / ".lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.wait(str(self.directory))
                fcntl.flock(handle, fcntl.LOCK_EX)
            # Drafts of a process that was killed: we hold the lock, so nobody is filling them.
            for left in self.directory.glob(f"{_DRAFTS}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield


def explain_wrong(jar: JarState) -> str:
    """The file, both hashes, and what to do."""
    return (
        f"{jar.path} is not the JAR in jars.lock: sha256 expected {jar.expected_sha256}, got "
        f"{jar.actual_sha256}; delete it and run `zklake jars fetch {jar.set_name}`"
    )


def hash_file(path: Path) -> str:
    """The sha256 of a file, in hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _is_filled(path: Path) -> bool:
    # A crash of the machine can leave a named file without its bytes.
    return path.is_file() and path.stat().st_size > 0
