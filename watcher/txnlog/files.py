"""Which files of ZooKeeper's lie in a directory, in the order of their transactions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from watcher.txnlog.finding import TxnLogError

# ZooKeeper keeps its files in a directory of this name below dataDir and dataLogDir.
_INNER = "version-2"
_LOG = re.compile(r"log\.([0-9a-f]{1,16})$")
# 3.6 and later may compress snapshots, and say so in the name.
_SNAPSHOT = re.compile(r"snapshot\.([0-9a-f]{1,16})(?:\.gz|\.snappy)?$")


class LogFile(NamedTuple):
    """A log file: its first zxid, by its name, and whose it is."""

    zxid: int
    server: int
    path: Path


class SnapshotFile(NamedTuple):
    """A snapshot: it holds at least what was done up to that zxid."""

    zxid: int
    path: Path


class Files(NamedTuple):
    """What there is to read, in order."""

    logs: tuple[LogFile, ...]
    snapshots: tuple[SnapshotFile, ...]


def find_files(logs: Sequence[Path], snapshots: Sequence[Path] = ()) -> Files:
    """The files of some servers: one directory of logs each, which may hold snapshots too."""
    found = [
        LogFile(zxid, server, path)
        for server, directory in enumerate(logs)
        for zxid, path in _list_matching(_locate(directory), _LOG)
    ]
    if not found:
        places = ", ".join(str(_locate(directory)) for directory in logs)
        raise TxnLogError(
            f"{places}: no transaction logs (log.<zxid>) there. They lie in version-2 below "
            "dataLogDir of zoo.cfg, or below dataDir where that is not set"
        )
    holders = dict.fromkeys(_locate(directory) for directory in (*snapshots, *logs))
    stored = {
        zxid: SnapshotFile(zxid, path)
        for directory in reversed(holders)
        for zxid, path in _list_matching(directory, _SNAPSHOT)
    }
    return Files(tuple(sorted(found)), tuple(stored[zxid] for zxid in sorted(stored)))


def _locate(directory: Path) -> Path:
    if not directory.is_dir():
        raise TxnLogError(
            f"{directory} is no directory: give dataDir or dataLogDir of zoo.cfg, or a copy"
        )
    inner = directory / _INNER
    return inner if inner.is_dir() else directory


def _list_matching(directory: Path, name: re.Pattern[str]) -> Iterable[tuple[int, Path]]:
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        raise TxnLogError(
            f"{directory} cannot be read ({error.strerror}): copy the files to where this user may"
        ) from error
    for path in paths:
        match = name.fullmatch(path.name)
        if match is not None and path.is_file():
            yield int(match[1], 16), path
