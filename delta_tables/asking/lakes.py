"""Which lakes a question is asked of: one directory per cluster. Reads names, never a table."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from zklake.errors import QueryError

EVERY = "*"


class Lake(NamedTuple):
    """The tables of one cluster."""

    path: str
    cluster: str


def find_lakes(path: str, clusters: str) -> list[Lake]:
    """The lakes of `a`, of `a,b`, or of every cluster there is (`*`)."""
    if is_remote(path) and clusters.strip() == EVERY:
        raise QueryError(f"{path} cannot be listed: name the clusters, --cluster a,b")
    found = [] if is_remote(path) else _list_clusters(Path(path))
    wanted = found if clusters.strip() == EVERY else _split(clusters)
    missing = [] if is_remote(path) else [name for name in wanted if name not in found]
    if missing or not wanted:
        raise QueryError(_format_missing(path, missing, found))
    return [Lake(path, cluster) for cluster in wanted]


def is_remote(path: str) -> bool:
    """Whether a path is an address in an object store."""
    return "://" in path


def _split(clusters: str) -> list[str]:
    names = [name.strip() for name in clusters.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def _list_clusters(path: Path) -> list[str]:
    return sorted({log.parents[1].name for log in path.glob("*/*/_delta_log")})


def _format_missing(path: str, missing: list[str], found: list[str]) -> str:
    where = "/".join([path.rstrip("/"), *([",".join(missing)] if missing else [])])
    there = f"there are: {', '.join(found)}" if found else "no cluster has tables there"
    return (
        f"{where} holds no tables ({there}): check --lake and --cluster, and that "
        "`zklake stream` has folded that cluster"
    )
