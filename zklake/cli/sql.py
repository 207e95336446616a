"""`zklake sql`: ask the lake, without a JVM; without a query on a terminal, a prompt."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.answers import Form, choose_form, print_rows, write_time
from zklake.cli.asking import AsCsv, Clusters, MaxRows, Scope, Timeout, choose_scope
from zklake.cli.options import AsJson, Config, Lake

if TYPE_CHECKING:
    from delta_tables.asking.sandbox import QueryAnswer

Query = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUERY]",
        help="One SELECT over the lake's tables (default: stdin, or a prompt on a terminal).",
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
    """Run one SELECT over the tables and print the rows.

    `zklake tables` lists tables and views; `zklake describe TABLE` lists its columns.
    """
    form = choose_form(as_json=as_json, as_csv=as_csv)
    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout, max_rows=max_rows)
    if query is None and sys.stdin.isatty():
        from zklake.cli.prompt import Prompt

        Prompt(scope, form).run()
    else:
        print_query(scope, sys.stdin.read() if query is None else query, form)


def print_query(
    scope: Scope, query: str, form: Form, *, condition: str = "", drops_empty: bool = False
) -> None:
    """Run a query from outside, and print its rows; doubts about its moments go to stderr."""
    from delta_tables.asking.sandbox import run_query
    from zklake.cli.columns import drop_empty

    with (
        _ended_by_hang_up(),
        run_query(scope.lakes, query, scope.limits, condition=condition) as answer,
    ):
        print_doubts(scope, query)
        rows = (row for some in answer for row in some)
        if drops_empty:
            print_rows(*drop_empty(answer.names, rows), form)
        else:
            print_rows(answer.names, rows, form)
        print_truncated(answer, scope)


@contextmanager
def _ended_by_hang_up() -> Iterator[None]:
    """A hang-up ends the query's process with ours; left to itself it would use up its time."""
    before = signal.getsignal(signal.SIGHUP)
    if before is signal.SIG_DFL:  # whoever ignores it (nohup) wants the answer
        signal.signal(signal.SIGHUP, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def print_doubts(scope: Scope, query: str) -> None:
    """Tell on stderr which moments of a query the lake cannot be sure of."""
    from delta_tables.asking.moments import doubt_moments, find_moments
    from zklake.logs import escape

    moments = find_moments(query)
    for lake in scope.lakes:
        for doubt in doubt_moments(lake.path, lake.cluster, moments):
            about = f"{write_time(doubt.at)}: " if doubt.at else ""
            print(f"{lake.cluster}: {about}{escape(doubt.says)}", file=sys.stderr)


def print_truncated(answer: QueryAnswer, scope: Scope) -> None:
    """Tell on stderr when rows are missing."""
    from zklake.phrases import format_count

    if answer.is_truncated:
        print(
            f"truncated after {format_count(scope.limits.max_rows, 'row')} or "
            f"{scope.limits.memory_bytes >> 20} MiB; raise --max-rows (query.max_rows) to see more",
            file=sys.stderr,
        )
