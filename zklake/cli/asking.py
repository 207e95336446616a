"""What the commands that ask the lake have in common: their options, and what these choose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from zklake.cli.options import collect_flags

if TYPE_CHECKING:
    from delta_tables.asking.lakes import Lake
    from delta_tables.asking.question import Limits

Clusters = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME[,…]",
        help="Cluster to query; several: a,b; all in the lake: '*'. (ZKLAKE_CLUSTER)",
        show_default=False,
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
# What `zklake run` leaves in the directory somebody stands in.
_RUN = Path(".zklake/run/lake")
_SAY_RUN = f"The lake of `make run` is {_RUN}: export ZKLAKE_LAKE={_RUN} ZKLAKE_CLUSTER=lab"


def complete_table(started: str) -> list[str]:
    """For the shell: tables and views whose names start so."""
    from delta_tables.catalog import TABLES
    from delta_tables.views import VIEWS

    names = [*(table.name for table in TABLES), *(view.name for view in VIEWS)]
    return [name for name in names if name.startswith(started)]


class Scope(NamedTuple):
    """Which lakes are asked, and what a question may take."""

    lakes: list[Lake]
    limits: Limits


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
    from zklake.errors import QueryError
    from zklake.settings.load import load_settings

    flags = {"query.timeout_s": timeout, "query.max_rows": max_rows}
    settings = load_settings(config, collect_flags(lake=lake) | flags)
    query = settings.query
    limits = Limits(
        timeout_s=query.timeout_s, max_rows=query.max_rows, memory_bytes=query.memory_bytes
    )
    try:
        lakes = find_lakes(settings.lake.path, cluster or settings.cluster)
    except QueryError as error:
        if not _RUN.is_dir():
            raise
        raise QueryError(f"{error} {_SAY_RUN}") from error
    return Scope(lakes, limits)
