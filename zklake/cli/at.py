"""`zklake at`: the rows of a table that held at one moment."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from zklake.cli.answers import Form, choose_form
from zklake.cli.asking import (
    AsCsv,
    Clusters,
    MaxRows,
    Scope,
    Timeout,
    choose_scope,
)
from zklake.cli.options import AsJson, Config, Lake
from zklake.cli.shell_completion import complete_state_table
from zklake.cli.sql import print_query
from zklake.times import MOMENT_FORMS

Time = Annotated[
    str,
    typer.Argument(
        metavar="TIME",
        help=f"{MOMENT_FORMS}.",
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table whose rows have a time of validity.",
        autocompletion=complete_state_table,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only rows that match this SQL condition: \"topic = 'orders'\".",
        show_default=False,
    ),
]
Every = Annotated[
    bool, typer.Option("--all", help="Show every column (JSON and CSV have all of them).")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAME[,…]",
        help="Show these columns; `zklake describe TABLE` lists them.",
        show_default=False,
    ),
]


def at(
    time: Time,
    table: Table,
    *,
    where: Where = None,
    every: Every = False,
    columns: Columns = None,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    max_rows: MaxRows = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Print the rows that were valid at a time, with a warning if the data may be incomplete."""
    from zklake.errors import QueryError

    form = choose_form(as_json=as_json, as_csv=as_csv)
    if every and columns is not None:
        raise QueryError("--all and --columns cannot be combined")
    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout, max_rows=max_rows)
    wanted = columns if columns is not None else "*" if every or form != "table" else None
    print_moment(scope, time, table, where or "", form, wanted=wanted)


def print_moment(
    scope: Scope, time: str, table: str, condition: str, form: Form, *, wanted: str | None = None
) -> None:
    """Print the rows of a table that held at a moment; what was supposed goes to stderr.

    `wanted` are columns, or * for all; without it people see those that say something to them.
    """
    from delta_tables.asking.moments import (
        find_interval_table,
        format_supposed,
        parse_moment,
        write_query,
    )
    from zklake.cli.columns import list_useful, read_columns
    from zklake.logs import escape

    moment, condition = parse_moment(time, datetime.now(UTC)), condition.strip()
    found = find_interval_table(table)
    if wanted is None:
        columns = list_useful(found.name, found.names, many_clusters=len(scope.lakes) > 1)
    else:
        columns = [] if wanted == "*" else read_columns(wanted, found.name, found.names)
    query = write_query(found, moment.at, condition, columns=columns)
    if supposed := format_supposed(time, moment):
        print(escape(supposed), file=sys.stderr)
    print_query(scope, query, form, condition=condition, drops_empty=wanted is None)
