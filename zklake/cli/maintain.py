"""`zklake maintain`: keep the lake small and fast now, by the stream that writes it if one runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags
from zklake.cli.shell_completion import complete_stored_table
from zklake.cli.stream import find_lake

if TYPE_CHECKING:
    from streaming.maintenance.plan import MaintenanceStep
    from streaming.maintenance.retention import Policy
    from zklake.progress import Progress
    from zklake.settings.models import Settings

_MAINTAINED = "tables maintained"
Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TABLE]…",
        help="Tables (default: all).",
        show_default=False,
        autocompletion=complete_stored_table,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only print what would be done.", show_default=False),
]


def maintain(
    tables: Tables = None,
    *,
    dry_run: DryRun = False,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Trim, compact and clean up tables now; a running stream does the work if there is one."""
    from zklake.errors import LakeError
    from zklake.logs import configure_logging
    from zklake.phrases import format_count
    from zklake.progress import show_progress
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster))
    configure_logging()
    work = plan_all if dry_run else maintain_tables
    shown = []
    # Elsewhere than on a terminal its lines say how far it is.
    with show_progress(has_lines=False) as progress:
        for row in work(settings, tables or (), progress):
            shown.append(row)
            if not as_json:
                print("{table}: {action}: {says}".format(**row), flush=True)
    if as_json:
        print(json.dumps(shown, indent=1))
    failed = [row for row in shown if row.get("is_error")]
    if failed:
        raise LakeError(
            f"{format_count(len(failed), 'step')} failed; the tables are as they were before"
        )


def plan_all(
    settings: Settings, names: Sequence[str], progress: Progress
) -> Iterator[dict[str, Any]]:
    """What would be done, table by table; changes nothing and asks nobody."""
    from streaming.maintenance.retention import read_policy
    from zklake.progress import follow

    tables, policy = (
        _check(settings, names),
        read_policy(settings.maintenance, settings.lag.full_hours),
    )
    for name in follow(progress, "tables looked at", tables):
        for step in _plan(settings, name, policy):
            yield {"table": step.table, "action": step.action, "says": step.says}


def _plan(settings: Settings, name: str, policy: Policy) -> list[MaintenanceStep]:
    from delta_tables.catalog import TABLE_BY_NAME
    from streaming.maintenance.upkeep import plan_table

    return plan_table(find_lake(settings), settings.cluster, TABLE_BY_NAME[name], policy)[0]


def maintain_tables(
    settings: Settings, names: Sequence[str], progress: Progress
) -> Iterator[dict[str, Any]]:
    """Do it under the lake's lease, or have it done by the stream that holds it."""
    from streaming.lake.lease import LeaseHeld, hold_lease
    from streaming.maintenance.requests import ask
    from streaming.maintenance.retention import read_policy
    from streaming.maintenance.upkeep import maintain as maintain_lake
    from zklake.errors import LakeError
    from zklake.progress import follow

    tables, policy = (
        _check(settings, names),
        read_policy(settings.maintenance, settings.lag.full_hours),
    )
    path, cluster = find_lake(settings), settings.cluster
    if "://" in path:
        raise LakeError(
            f"the lake {path} is on an object store, so whether a stream is writing it is unknown; "
            "a running stream maintains its lake by itself (maintenance.enabled)"
        )
    try:
        with hold_lease(path, cluster):
            followed = follow(progress, _MAINTAINED, tables)
            yield from map(_describe, maintain_lake(path, cluster, followed, policy))
    except LeaseHeld:
        progress.show("asking the stream that writes the lake", 0, None)
        for done in ask(path, cluster, tables):
            progress.show(_MAINTAINED, tables.index(done.table), len(tables))
            yield _describe(done)


def _check(settings: Settings, names: Sequence[str]) -> list[str]:
    from delta_tables.catalog import TABLE_BY_NAME
    from delta_tables.reading import open_tables
    from zklake.errors import LakeError

    for name in names:
        if name not in TABLE_BY_NAME:
            raise LakeError(f"no table {name!r}; use one of: {', '.join(TABLE_BY_NAME)}")
    path, cluster = find_lake(settings), settings.cluster
    if not open_tables(path, cluster):
        raise LakeError(
            f"{path}/{cluster} holds no tables: check --lake and --cluster, and that `zklake "
            "stream` has run for that cluster"
        )
    return list(names) or list(TABLE_BY_NAME)


def _describe(done: Any) -> dict[str, Any]:
    names = ("table", "action", "says", "seconds", "is_error")
    return {name: getattr(done, name) for name in names}
