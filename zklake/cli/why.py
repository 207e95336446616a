"""`zklake why`: what made a group's lag rise, in plain sentences."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.asking import Clusters, Scope, Timeout, choose_scope
from zklake.cli.options import AsJson, Config, Lake

if TYPE_CHECKING:
    from delta_tables.asking.explanation import Explanation

Group = Annotated[str, typer.Argument(metavar="GROUP", help="A consumer group.")]
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


def why(
    group: Group,
    *,
    at: At = None,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Explain why the lag of a group rose: the most likely cause first, with the evidence."""
    print_why(choose_scope(config, lake=lake, cluster=cluster, timeout=timeout), group, at, as_json)


def print_why(scope: Scope, group: str, at: str | None, as_json: bool) -> None:
    """Explain one group; doubts go to stderr."""
    from delta_tables.asking.moments import parse_moment, say_supposed
    from delta_tables.asking.why import explain
    from zklake.logs import escape

    moment = None if at is None else parse_moment(at, datetime.now(UTC))
    if moment is not None and (said := say_supposed(at or "", moment)):
        print(escape(said), file=sys.stderr)
    found = explain(scope.lakes, group, moment.at if moment else None, scope.limits)
    for one in found:
        for doubt in one.doubts:
            print(f"{one.cluster}: {escape(doubt)}", file=sys.stderr)
    if as_json:
        import json

        print(json.dumps([describe_explanation(one) for one in found], indent=1))
        return
    for number, one in enumerate(found):
        _print_explanation(one, is_first=number == 0)


def describe_explanation(one: Explanation) -> dict[str, Any]:
    """The same as plain data: times are ISO 8601."""
    import msgspec

    causes = [{"says": cause.says, **msgspec.to_builtins(cause)} for cause in one.causes]
    said: dict[str, Any] = msgspec.to_builtins(one, str_keys=True)
    return {**said, "causes": msgspec.to_builtins(causes, str_keys=True)}


def _print_explanation(one: Explanation, *, is_first: bool) -> None:
    from delta_tables.asking.explanation import tell
    from zklake.cli.answers import lay_out
    from zklake.logs import escape

    if not is_first:
        print()
    for line in tell(one):
        print(escape(line))
    for cause in one.causes:
        if cause.rows:
            print(f"\n{cause.source_table}:")
            shown = [name for name in cause.rows[0] if _is_told(cause.rows, name)]
            print(*lay_out(shown, [[row[name] for name in shown] for row in cause.rows]), sep="\n")


def _is_told(rows: list[dict[str, Any]], name: str) -> bool:
    """Whether a column says anything; what the fold remembers is nobody's business here."""
    return name != "fold_state" and any(row[name] is not None for row in rows)
