"""Small files that stand for JARs, and a lock that knows their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zklake.jars.lock import Coordinate, Lock

APPLE = Coordinate("org.fruit", "apple", "1.0")
PEAR = Coordinate("org.fruit", "pear_2.13", "2.0.1")
NUT = Coordinate("org.nut", "apple", "1.0")


def content_of(jar: Coordinate) -> bytes:
    return f"bytes of {jar}".encode()


def sha256_of(jar: Coordinate) -> str:
    return hashlib.sha256(content_of(jar)).hexdigest()


def make_lock() -> Lock:
    """Two sets that share a JAR, like kafka and zookeeper-3.8."""
    return {
        "fruit": {APPLE: sha256_of(APPLE), PEAR: sha256_of(PEAR)},
        "mixed-1.0": {APPLE: sha256_of(APPLE), NUT: sha256_of(NUT)},
    }


def fill(directory: Path, *jars: Coordinate) -> Path:
    """A directory somebody filled by hand."""
    directory.mkdir(parents=True, exist_ok=True)
    for jar in jars:
        (directory / jar.file_name).write_bytes(content_of(jar))
    return directory
