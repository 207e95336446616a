"""`zklake sql`: ask the lake, without a JVM."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags

Query = Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT over the lake's tables.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.", show_default=False)]

Row = Sequence[Any]


def sql(
    query: Query,
    *,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run one SELECT over a cluster's tables and print the rows."""
    from zklake.errors import QueryError
    from zklake.settings.load import load_settings

    if as_json and as_csv:
        raise QueryError("--json and --csv: choose one")
    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster))
    names, rows = run_query(settings.lake.path, settings.cluster, query)
    if as_json:
        _print_json(names, rows)
    elif as_csv:
        _print_csv(names, rows)
    else:
        _print_table(names, rows)


def run_query(lake: str, cluster: str, query: str) -> tuple[list[str], Iterator[Row]]:
    """Check a query and run it over a cluster's tables; column names, and rows as they come."""
    from delta_tables.querying import check_query
    from delta_tables.reading import find_views, open_tables, read_batches
    from zklake.errors import QueryError

    tables = open_tables(lake, cluster)
    if not tables:
        raise QueryError(
            f"{lake.rstrip('/')}/{cluster} holds no tables: are --lake and --cluster right, and "
            "has `zklake stream` folded that cluster yet?"
        )
    names = {*tables, *(view.name for view in find_views(tables))}
    batches = read_batches(tables, check_query(query, names))
    columns, _ = next(batches)
    return columns, (row for _, cells in batches for row in zip(*cells, strict=True))


def _print_json(names: list[str], rows: Iterable[Row]) -> None:
    print(json.dumps([dict(zip(names, row, strict=True)) for row in rows], default=str, indent=1))


def _print_csv(names: list[str], rows: Iterable[Row]) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_write_cell(cell) for cell in row] for row in rows)


def _print_table(names: list[str], rows: Iterable[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from zklake.logs import escape

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        # Text, not str: a znode's name must not be read as markup, nor steer the terminal.
        table.add_row(*(Text(escape(_write_cell(cell))) for cell in row))
    # In a pipe there is no width to keep to, and a folded value could not be grepped.
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width).print(table)


def _write_cell(cell: object) -> str:
    if cell is None:
        return ""
    return json.dumps(cell, default=str) if isinstance(cell, list | dict) else str(cell)
