"""Where things are: jars.lock, the cache of this user, pyspark's own JARs. It only looks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import zklake
from zklake.errors import JarError

LOCK_NAME = "jars.lock"


def find_lock() -> Path:
    """jars.lock inside the installed package, else at the root of the repository."""
    package = Path(zklake.__file__).parent
    packed = package / LOCK_NAME
    return packed if packed.exists() else package.parent / LOCK_NAME


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """ZKLAKE_JARS_CACHE, else zklake/jars in this user's cache home."""
    if chosen := environ.get("ZKLAKE_JARS_CACHE"):
        return Path(chosen).expanduser()
    cache_home = environ.get("XDG_CACHE_HOME")
    return Path(cache_home or Path.home() / ".cache", "zklake", "jars")


def pyspark_jars_dir() -> Path:
    """The jars folder of the installed pyspark, found without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarError("pyspark is not installed: pip install 'zklake[stream]' (or 'zklake[lab]')")
    return Path(spec.origin).parent / "jars"
