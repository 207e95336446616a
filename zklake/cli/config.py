"""`zklake config show`: every setting, its value, and who set it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import typer

from zklake.cli.options import AsJson, Config

if TYPE_CHECKING:
    from zklake.settings.show import ShownSetting

app = typer.Typer(help="Show the settings.", no_args_is_help=True)


@app.callback()
def options() -> None:
    """Show the settings."""


@app.command()
def show(config: Config = None, as_json: AsJson = False) -> None:
    """Print every setting with its value and origin; secrets are masked."""
    from zklake.settings.load import load_with_origins
    from zklake.settings.show import show_settings

    rows = show_settings(load_with_origins(config))
    if as_json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
    else:
        _print_table(rows)


def _print_table(rows: list[ShownSetting]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from zklake.settings.show import write_value

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("setting", "value", "origin"):
        table.add_column(title, overflow="fold")
    for row in rows:
        style = "dim" if row.origin == "default" else ""
        # Text, not str: rich would read the [::1] of an address as markup.
        cells = (row.key, write_value(row.value), write_value(row.origin))
        table.add_row(*(Text(cell, style=style) for cell in cells))
    # In a pipe there is no width to keep to, and a folded value could not be grepped.
    Console(width=None if sys.stdout.isatty() else 1000).print(table)
