"""The file of the journal: opening it, its tables, one writer at a time. Knows no incident."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from zklake.errors import ZklakeError

_VERSION = 1
_TABLES = """
CREATE TABLE about (cluster TEXT NOT NULL);
CREATE TABLE looks (rule TEXT PRIMARY KEY, horizon_ms INTEGER NOT NULL);
CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  kind TEXT NOT NULL,
  names TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  opened_ms INTEGER NOT NULL,
  closed_ms INTEGER
);
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  notifier TEXT NOT NULL,
  event TEXT NOT NULL,
  number INTEGER NOT NULL,
  message TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  next_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'waiting',
  done_ms INTEGER,
  error TEXT
);
CREATE INDEX waiting ON deliveries (notifier, next_ms) WHERE state = 'waiting';
CREATE INDEX told ON deliveries (incident_id, notifier);
"""


def connect(path: str, cluster: str) -> sqlite3.Connection:
    """The journal of that cluster, made if it is not there."""
    with explaining(path):
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10, check_same_thread=False)
        try:
            connection.isolation_level = None
            # What is written down must be there after a power cut, too.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            if _check(connection, path) == 0:
                _create(connection, cluster)
            _check_owner(connection, path, cluster)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(path: str, cluster: str) -> sqlite3.Connection | None:
    """The journal as somebody else writes it; None when there is none yet."""
    if not Path(path).exists():
        return None
    with explaining(path):
        uri = f"{Path(path).absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=10)
        try:
            if _check(connection, path) == 0:
                connection.close()
                return None
            _check_owner(connection, path, cluster)
        except BaseException:
            connection.close()
            raise
    return connection


def _create(connection: sqlite3.Connection, cluster: str) -> None:
    # In one transaction: a kill in the middle leaves an empty file.
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES (?)", (cluster,))
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, path: str) -> int:
    """Whether it is whole; returns the version of its form, 0: it is empty."""
    said = connection.execute("PRAGMA quick_check").fetchone()[0]
    if said != "ok":
        raise sqlite3.DatabaseError(said)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _VERSION:
        raise ZklakeError(
            f"the journal {path} was written by a newer zklake (format {version}): use that version"
        )
    return int(version)


def _check_owner(connection: sqlite3.Connection, path: str, cluster: str) -> None:
    (owner,) = connection.execute("SELECT cluster FROM about").fetchone()
    if owner != cluster:
        raise ZklakeError(
            f"the journal {path} belongs to cluster {owner}, not to {cluster}: "
            "give each cluster its own alerts.journal"
        )


@contextmanager
def explaining(path: str) -> Iterator[None]:
    """An error of SQLite in words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise ZklakeError(
            f"the journal {path} cannot be used: {error}. Check the disk and its permissions; if "
            "the file is corrupt, move it away: open incidents are then sent once more"
        ) from error


@contextmanager
def holding(path: str) -> Iterator[IO[bytes]]:
    """Nobody else writes this journal; a lock that ends with the process, however it ends."""
    with explaining(path):
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
        lock = open(f"{path}.lock", "ab")  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ZklakeError(
                f"another `zklake alerts run` on this machine uses the journal {path}: "
                "stop it, or set another alerts.journal"
            ) from error
        yield lock
