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
    complete_table,
)
from zklake.cli.options import AsJson, Config, Lake
from zklake.cli.sql import print_query

Time = Annotated[
    str,
    typer.Argument(
        metavar="TIME",
        help="ISO 8601 (UTC unless it has a time zone), a time of day (16:07: the last one, UTC), "
        "a time ago (-15m), or now.",
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table whose rows have a time of validity.",
        autocompletion=complete_table,
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


def at(
    time: Time,
    table: Table,
    *,
    where: Where = None,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    max_rows: MaxRows = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Print the rows that were valid at a time, with a warning if the data may be incomplete."""
    form = choose_form(as_json=as_json, as_csv=as_csv)
    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout, max_rows=max_rows)
    print_moment(scope, time, table, where or "", form)


def print_moment(scope: Scope, time: str, table: str, condition: str, form: Form) -> None:
    """Print the rows of a table that held at a moment; what was supposed goes to stderr."""
    from delta_tables.asking.moments import (
        find_interval_table,
        parse_moment,
        say_supposed,
        write_query,
    )
    from zklake.logs import escape

    moment, condition = parse_moment(time, datetime.now(UTC)), condition.strip()
    query = write_query(
        find_interval_table(table), moment.at, condition, every_column=form != "table"
    )
    if supposed := say_supposed(time, moment):
        print(escape(supposed), file=sys.stderr)
    print_query(scope, query, form, condition=condition)
