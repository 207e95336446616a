"""`zklake lake …`: about the lake itself. No JVM."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags

if TYPE_CHECKING:
    from delta_tables.asking.stats import LakeStats

app = typer.Typer(help="Inspect the lake itself.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Inspect the lake itself."""


@app.command()
def stats(
    *,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show files, bytes, rows, commits, log files and watermark per table."""
    from dataclasses import asdict

    from delta_tables.asking.stats import measure_lake
    from zklake.errors import LakeError
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster))
    path = settings.lake.path
    found = measure_lake(path, settings.cluster)
    if not found.tables:
        raise LakeError(
            f"{path.rstrip('/')}/{settings.cluster} holds no tables: check --lake and --cluster, "
            "and that `zklake stream` has run for that cluster"
        )
    if as_json:
        print(json.dumps(asdict(found), default=str, indent=1))
    else:
        _print(found)


def _print(found: LakeStats) -> None:
    from rich.console import Console
    from rich.table import Table

    names = ("files", "bytes", "rows", "open rows", "commits", "log files", "seq")
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("table", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right")
    for row in found.tables:
        numbers = (getattr(row, name.replace(" ", "_")) for name in names[:-1])
        seq = "" if row.seq is None else str(row.seq)
        table.add_row(row.table, *("" if n is None else f"{n:,}" for n in numbers), seq)
    # In a pipe there is no width to keep to.
    console = Console(width=None if sys.stdout.isatty() else 10_000)
    console.print(table)
    if found.watermark is not None:
        console.print(f"watermark: seq {found.watermark}, {found.watermark_at:%Y-%m-%d %H:%M:%S}Z")
