"""The directory of a run: its data, logs and lake, and what it remembers for the next run.

Knows neither servers nor commands. One live run at a time holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any, TextIO

from zklake.errors import RunError
from zklake.supervision.startable import Startable

# Under this name a run remembers where its parts answer.
ADDRESSES = "addresses"
_MARK = ".zklake-run"
_STATE = "state.json"


class RunDirectory(Startable):
    """`with RunDirectory(path) as directory: …` holds it; what is in it stays."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        """Nothing is touched yet. `fresh`: what an earlier run left goes when it starts."""
        self.path = path.absolute()
        self.logs = self.path / "logs"
        self._fresh = fresh
        self._lock: TextIO | None = None
        self._state: dict[str, Any] = {}

    def start(self) -> None:
        """Take hold of it; RunError when a live run has it, or when it is something else."""
        self._lock = _lock(self.path)
        if self.path.exists() and not (self.path / _MARK).exists() and any(self.path.iterdir()):
            raise RunError(
                f"{self.path} is not a directory of `zklake run`: give another one with --dir"
            )
        if self._fresh:
            shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / _MARK).touch()
        self._state = _read_state(self.path / _STATE)
        self._set_logs_aside()

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def recall(self, name: str) -> Any:
        """What was remembered under this name, by this run or an earlier one; None: nothing."""
        return self._state.get(name)

    def remember(self, name: str, value: Any) -> None:
        """Keep a value for the next run."""
        self._state[name] = value
        self._write_state()

    def _set_logs_aside(self) -> None:
        previous = self.path / "logs.previous"
        if self.logs.exists():
            shutil.rmtree(previous, ignore_errors=True)
            self.logs.rename(previous)
        self.logs.mkdir()

    def _write_state(self) -> None:
        half = self.path / f"{_STATE}.new"
        half.write_text(json.dumps(self._state, indent=1))
        half.replace(self.path / _STATE)


def read_addresses(directory: Path) -> dict[str, Any]:
    """Where the parts of the last run in a directory answer; nothing when it is none of a run."""
    if not (directory / _MARK).exists():
        return {}
    found = _read_state(directory / _STATE).get(ADDRESSES)
    return found if isinstance(found, dict) else {}


def _lock(path: Path) -> TextIO:
    # Beside the directory, which may be emptied. The kernel lets go of it with the process.
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f"{path.name}.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        holder = lock.read().strip()
        lock.close()
        raise RunError(
            f"another `zklake run` (process {holder or 'unknown'}) uses {path}: "
            "stop it first, or give this one its own --dir"
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def _read_state(file: Path) -> dict[str, Any]:
    try:
        state = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
