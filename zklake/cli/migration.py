"""`zklake migration`: how ready a cluster is for the move to KRaft, by what ZooKeeper shows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from zklake.cli.asking import Clusters, Scope, Timeout, choose_scope
from zklake.cli.options import AsJson, Config, Lake

if TYPE_CHECKING:
    from delta_tables.asking.readiness import Readiness


def migration(
    *,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Check the move to KRaft: phase, rollback, leftovers, groups. Exit code 1: blocked."""
    scope = choose_scope(config, lake=lake, cluster=cluster, timeout=timeout)
    if print_migration(scope, as_json):
        raise typer.Exit(1)


def print_migration(scope: Scope, as_json: bool) -> bool:
    """Print every check of every cluster; returns whether one of them is blocked."""
    from delta_tables.asking.readiness import find_readiness
    from zklake.logs import escape

    found = find_readiness(scope.lakes, scope.limits)
    for one in found:
        for doubt in one.doubts:
            print(f"{one.cluster}: {escape(doubt)}", file=sys.stderr)
    if as_json:
        import json

        print(json.dumps([describe_readiness(one) for one in found], indent=1))
    else:
        for number, one in enumerate(found):
            _print_readiness(one, is_first=number == 0)
    return any(one.verdict == "blocked" for one in found)


def describe_readiness(one: Readiness) -> dict[str, Any]:
    """The same as plain data."""
    import msgspec

    head = {"cluster": one.cluster, "phase": one.phase, "verdict": one.verdict}
    return {**head, **msgspec.to_builtins(one)}


def _print_readiness(one: Readiness, *, is_first: bool) -> None:
    from delta_tables.asking.readiness import CHECKS, PHASES
    from zklake.cli.answers import lay_out
    from zklake.logs import escape

    if not is_first:
        print()
    print(escape(f"{one.cluster}: {PHASES[one.phase]}"))
    if not one.checks:
        print("no controller and no broker has been seen yet")
        return
    rows = [(check.verdict, CHECKS[check.check_name], check.detail) for check in one.checks]
    print(*lay_out(("verdict", "check", "finding"), rows), sep="\n")
    for check in one.checks:
        if check.verdict == "ok":
            continue
        print(f"\n{check.check_name}: {check.verdict}")
        if check.action:
            print(escape(f"  what to do: {check.action}"))
        for row in check.evidence:
            print(escape(f"  {row.says} [{row.source_table} {row.source_seq}]"))
