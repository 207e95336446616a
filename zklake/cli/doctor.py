"""`zklake doctor`: what this machine lacks, and how to mend it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson

if TYPE_CHECKING:
    from zklake.doctor import Finding

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


# Only what is given is checked, so these take no default from the settings.
ZooKeeper = Annotated[
    str | None,
    typer.Option(
        "--zookeeper",
        envvar="ZKLAKE_ZOOKEEPER",
        metavar="HOST:PORT[,…][/CHROOT]",
        help="ZooKeeper to reach.",
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        "--log", envvar="ZKLAKE_LOG", metavar="BOOTSTRAP", help="Kafka that holds the log."
    ),
]
Watched = Annotated[
    str | None,
    typer.Option(
        "--watched", envvar="ZKLAKE_WATCHED", metavar="BOOTSTRAP", help="Kafka that is watched."
    ),
]
Lake = Annotated[
    Path | None,
    typer.Option("--lake", envvar="ZKLAKE_LAKE", metavar="PATH", help="Where the tables are."),
]


def doctor(
    zookeeper: ZooKeeper = None,
    log: Log = None,
    watched: Watched = None,
    lake: Lake = None,
    as_json: AsJson = False,
) -> None:
    """Check Java, versions, JARs, disk, ports, and the servers whose addresses are given."""
    from zklake.doctor import Subject, examine
    from zklake.jars import open_cache

    subject = Subject(open_cache(), lake=lake, zookeeper=zookeeper, log=log, watched=watched)
    findings = examine(subject)
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
