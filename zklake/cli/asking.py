"""What the commands that ask the lake have in common: their options, and what these choose."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from zklake.cli.options import collect_flags
from zklake.cli.shell_completion import complete_cluster

if TYPE_CHECKING:
    from delta_tables.asking.lakes import Lake
    from delta_tables.asking.question import Limits
    from zklake.settings.models import Settings

Clusters = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME[,…]",
        help="Cluster to query; several: a,b; all in the lake: '*'. (ZKLAKE_CLUSTER)",
        show_default=False,
        autocompletion=complete_cluster,
    ),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.", show_default=False)]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Stop the query after this time.",
        show_default=False,
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows", metavar="N", help="Show at most this many rows.", show_default=False
    ),
]
# What `make run` leaves in the directory somebody stands in.
_RUN_LAKE, _RUN_CLUSTER = ".zklake/run/lake", "lab"


class Scope(NamedTuple):
    """Which lakes are asked, and what a question may take."""

    lakes: list[Lake]
    limits: Limits
    # Rises of lag by fewer records are noise.
    least_rise: int = 100


def choose_scope(
    config: Path | None,
    *,
    lake: str | None,
    cluster: str | None,
    timeout: float | None = None,
    max_rows: int | None = None,
) -> Scope:
    """The scope by flags, environment and file; QueryError when there is no such lake."""
    from delta_tables.asking.lakes import find_lakes
    from delta_tables.asking.question import Limits

    flags = {"query.timeout_s": timeout, "query.max_rows": max_rows}
    settings = load_asked(config, collect_flags(lake=lake) | flags, cluster=cluster)
    query = settings.query
    limits = Limits(
        timeout_s=query.timeout_s, max_rows=query.max_rows, memory_bytes=query.memory_bytes
    )
    lakes = find_lakes(settings.lake.path, cluster or settings.cluster)
    return Scope(lakes, limits, query.least_rise)


def load_asked(
    config: Path | None, flags: Mapping[str, object], *, cluster: str | None = None
) -> Settings:
    """The settings; where nobody names a lake, and there is one of `make run`, they name that."""
    from zklake.settings.load import load_with_origins

    settings, origins = load_with_origins(config, flags)
    named = cluster or {"lake.path", "cluster", "zookeeper.connect"} & origins.keys()
    if named or Path(settings.lake.path).exists() or not Path(_RUN_LAKE).is_dir():
        return settings
    print(f"lake: {_RUN_LAKE}, of `make run` (--lake names another)", file=sys.stderr)
    run = collect_flags(lake=_RUN_LAKE, cluster=_RUN_CLUSTER)
    return load_with_origins(config, {**flags, **run}).settings
