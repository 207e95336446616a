"""`zklake why`: what made a group's lag rise, in plain sentences."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.asking import Clusters, Timeout, choose_scope
from zklake.cli.options import AsJson, Config, Lake
from zklake.cli.shell_completion import complete_group

if TYPE_CHECKING:
    from delta_tables.asking.explanation import Explanation, Rise

Group = Annotated[
    str,
    typer.Argument(metavar="GROUP", help="A consumer group.", autocompletion=complete_group),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME",
        help="Explain the hour before this time: ISO 8601 (UTC unless it has a time zone), "
        "a time ago (-15m), or now (default: the last day).",
        show_default=False,
    ),
]

Chosen = Annotated[
    int | None,
    typer.Option(
        "--rise",
        metavar="N",
        min=1,
        help="Explain the Nth rise of that time, the first being 1 (default: the largest).",
        show_default=False,
    ),
]
Least = Annotated[
    int | None,
    typer.Option(
        "--least",
        metavar="RECORDS",
        min=1,
        help="Leave out rises by fewer records. (query.least_rise)",
        show_default=False,
    ),
]
Every = Annotated[
    bool, typer.Option("--all", help="Show every column of the evidence (JSON has all of them).")
]


def why(
    group: Group,
    *,
    at: At = None,
    rise: Chosen = None,
    least: Least = None,
    every: Every = False,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Explain why the lag of a group rose: how many records each cause added, with the evidence."""
    from delta_tables.asking.why import RiseFilter, explain

    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout)
    wanted = RiseFilter(group, _read_moment(at), least or scope.least_rise, rise)
    print_explanations(explain(scope.lakes, wanted, scope.limits), as_json, every=every)


def _read_moment(at: str | None) -> datetime | None:
    from delta_tables.asking.moments import format_supposed, parse_moment
    from zklake.logs import escape

    if at is None:
        return None
    moment = parse_moment(at, datetime.now(UTC))
    if said := format_supposed(at, moment):
        print(escape(said), file=sys.stderr)
    return moment.at


def print_explanations(found: list[Explanation], as_json: bool, *, every: bool = False) -> None:
    """What was found; doubts go to stderr."""
    from zklake.logs import escape

    for one in found:
        for doubt in one.doubts:
            print(f"{one.cluster}: {escape(doubt)}", file=sys.stderr)
    if as_json:
        import json

        print(json.dumps([describe_explanation(one) for one in found], indent=1))
        return
    for number, one in enumerate(found):
        _print_explanation(one, is_first=number == 0, every=every)


def describe_explanation(one: Explanation) -> dict[str, Any]:
    """The same as plain data: times are ISO 8601."""
    import msgspec

    said: dict[str, Any] = msgspec.to_builtins(one, str_keys=True)
    said["rises"] = [_describe_rise(rise) for rise in one.rises]
    said["chosen"] = None if one.chosen is None else one.rises.index(one.chosen) + 1
    return said


def _describe_rise(rise: Rise) -> dict[str, Any]:
    import msgspec

    said: dict[str, Any] = msgspec.to_builtins(rise, str_keys=True)
    causes = zip(rise.causes, said["causes"], strict=True)
    return {**said, "causes": [{"says": cause.says, **plain} for cause, plain in causes]}


def _print_explanation(one: Explanation, *, is_first: bool, every: bool) -> None:
    from delta_tables.asking.explanation import format_explanation
    from zklake.cli.answers import lay_out
    from zklake.logs import escape

    if not is_first:
        print()
    for line in format_explanation(one):
        print(escape(line))
    for table, rows in _gather_evidence(one.chosen).items():
        print(f"\n{table}:")
        print(*lay_out(*_choose_columns(table, rows, every=every)), sep="\n")


def _gather_evidence(rise: Rise | None) -> dict[str, list[dict[str, Any]]]:
    """The rows behind all causes by their table, each with the number of its cause."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number, cause in enumerate(rise.causes if rise else (), start=1):
        rows = found.setdefault(cause.source_table or "", []) if cause.rows else []
        rows += [{"cause": number, **row} for row in cause.rows]
    return found


def _choose_columns(
    table: str, rows: list[dict[str, Any]], *, every: bool
) -> tuple[list[str], list[list[Any]]]:
    """Columns that say anything; what the fold remembers is nobody's business here."""
    from zklake.cli.columns import drop_empty, list_useful

    known = [name for name in rows[0] if name not in ("cause", "fold_state")]
    names = ["cause", *(known if every else list_useful(table, known))]
    return drop_empty(names, [[row[name] for name in names] for row in rows])
