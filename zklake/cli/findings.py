"""Findings as a table: what `zklake doctor` and `zklake status` print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zklake.doctor.finding import Finding

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def print_findings(findings: Sequence[Finding]) -> None:
    """One line each, and below it what to do."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from zklake.logs import escape

    table = Table(box=None, pad_edge=False)
    for title in ("", "check", "found"):
        table.add_column(title, overflow="fold")
    for finding in findings:
        state = Text(finding.state, style=_COLOURS[finding.state])
        # What servers say of themselves, and names in the lake, are other people's bytes.
        table.add_row(state, finding.check, Text("\n".join(map(escape, finding.found.split("\n")))))
        if finding.fix:
            table.add_row("", "", Text(f"→ {finding.fix}", style="bold"))
    # In a pipe there is no width to keep to.
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)
