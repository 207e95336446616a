"""`zklake doctor`: what this machine lacks, and how to mend it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from zklake.cli.options import AsJson, Config, Lake, Log, Watched, ZooKeeper, collect_flags

if TYPE_CHECKING:
    from zklake.doctor import Finding

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(
    *,
    zookeeper: ZooKeeper = None,
    log: Log = None,
    watched: Watched = None,
    lake: Lake = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check Java, versions, JARs, disk, ports, and the configured servers."""
    from zklake.doctor import Finding, Subject, choose_subject, examine
    from zklake.errors import SettingsError
    from zklake.jars import open_cache
    from zklake.settings.load import load_with_origins

    flags = collect_flags(zookeeper=zookeeper, log=log, watched=watched, lake=lake)
    try:
        findings = examine(choose_subject(open_cache(), load_with_origins(config, flags)))
    except SettingsError as error:
        wrong = Finding(
            "settings", "fail", str(error), "correct them; docs/settings.md lists all settings"
        )
        findings = [wrong, *examine(Subject(open_cache()))]
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        _print_table(findings)
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


def _print_table(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("", "check", "found"):
        table.add_column(title, overflow="fold")
    for finding in findings:
        state = f"[{_COLOURS[finding.state]}]{finding.state}[/]"
        table.add_row(state, finding.check, escape(finding.found))
        if finding.fix:
            table.add_row("", "", f"[bold]→ {escape(finding.fix)}[/]")
    Console().print(table)
