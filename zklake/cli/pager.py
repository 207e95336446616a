"""Lines for a person: on the terminal when they fit, else in a pager that scrolls sideways too."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from zklake.cli.answers import measure

# Quit if it fits, keep what was shown, never fold a line: a row stays a row.
_LESS_OPTIONS = "-FXS"


def page(lines: Sequence[str]) -> None:
    """Print lines; PAGER chooses the program, and PAGER=cat none."""
    pager = None if _fits(lines) else _find_pager()
    if pager is None:
        print(*lines, sep="\n")
        return
    # Handed over as text: its exit code says nothing about ours, and q in the middle is fine.
    environment = {"LESS": _LESS_OPTIONS, **os.environ}
    text = "\n".join(lines) + "\n"
    subprocess.run(pager, input=text, encoding="utf-8", env=environment, check=False)


def _fits(lines: Sequence[str]) -> bool:
    if not sys.stdout.isatty():
        return True
    columns, height = shutil.get_terminal_size()
    return len(lines) < height and all(measure(line) <= columns for line in lines)


def _find_pager() -> list[str] | None:
    words = shlex.split(os.environ.get("PAGER") or "less")
    return words if words and shutil.which(words[0]) else None
