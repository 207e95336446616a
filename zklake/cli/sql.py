"""`zklake sql`: ask the lake, without a JVM; without a query on a terminal, a prompt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.answers import Form, choose_form, print_rows
from zklake.cli.asking import AsCsv, Clusters, MaxRows, Scope, Timeout, choose_scope
from zklake.cli.options import AsJson, Config, Lake

if TYPE_CHECKING:
    from delta_tables.sandbox import Answer

Query = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUERY]",
        help="One SELECT over the lake's tables; without it, a prompt, or what is piped in.",
        show_default=False,
    ),
]


def sql(
    query: Query = None,
    *,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    max_rows: MaxRows = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run one SELECT over the tables and print the rows."""
    form = choose_form(as_json=as_json, as_csv=as_csv)
    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout, max_rows=max_rows)
    if query is None and sys.stdin.isatty():
        from zklake.cli.prompt import Prompt

        Prompt(scope, form).run()
    else:
        print_query(scope, sys.stdin.read() if query is None else query, form)


def print_query(scope: Scope, query: str, form: Form) -> None:
    """Run a query from outside, and print its rows."""
    from delta_tables.sandbox import run_query

    with run_query(scope.lakes, query, scope.limits) as answer:
        print_rows(answer.names, (row for rows in answer for row in rows), form)
        say_truncated(answer, scope)


def say_truncated(answer: Answer, scope: Scope) -> None:
    """Tell on stderr when rows are missing."""
    if answer.is_truncated:
        print(
            f"cut off after {scope.limits.max_rows} rows, or {scope.limits.memory_bytes >> 20} MiB:"
            " there are more; raise --max-rows (query.max_rows)",
            file=sys.stderr,
        )
