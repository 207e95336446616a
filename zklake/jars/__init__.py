"""The JARs: what jars.lock names, in this user's cache; lab, streaming and tests enter here.

It starts a JVM only to download; it never imports pyspark.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zklake.jars.cache import JarCache
from zklake.jars.location import cache_dir, find_lock, pyspark_jars_dir
from zklake.jars.lock import read_lock
from zklake.jars.progress import JarProgress, show_progress
from zklake.jars.source import Source, choose_source

__all__ = ["ensure", "fetch", "open_cache", "paths", "pyspark_jars_dir"]


def open_cache() -> JarCache:
    """The cache of this user, with the lock of this zklake."""
    return JarCache(cache_dir(), read_lock(find_lock()))


def paths(set_name: str) -> list[Path]:
    """The JARs of a set; a JarError says how to fetch them when they are missing."""
    return open_cache().paths(set_name)


def fetch(
    sets: Sequence[str] = (), source: Source | None = None, progress: JarProgress | None = None
) -> dict[str, int]:
    """Bring what is missing of these sets (default: all); how many JARs came, by set."""
    cache = open_cache()
    names = list(sets or cache.lock)
    if progress is not None:
        return cache.fetch(names, source or choose_source(), progress)
    with show_progress() as shown:
        return cache.fetch(names, source or choose_source(), shown)


def ensure(set_name: str) -> list[Path]:
    """The JARs of a set, fetched first when they are missing."""
    fetch([set_name])
    return paths(set_name)
