"""How `zklake run` shows itself: lines; on a terminal a table of states stays below them.

Everything goes to stderr. States and lines may quote other people's bytes.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zklake.logs import escape
from zklake.supervision.startable import Startable

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"ready": "green", "ended": "bold red"}
_STATE_CHARACTERS = 100


class Display(Startable):
    """One for the whole run; any thread may report to it."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        from rich.console import Console
        from rich.live import Live

        self.is_live = sys.stderr.isatty()
        self._states: dict[str, tuple[str, float]] = {}
        self._started_at = time.monotonic()
        self._lock = threading.Lock()
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(
            console=self._console, get_renderable=self._draw, refresh_per_second=2, transient=True
        )

    def start(self) -> None:
        """On a terminal, show the table from now on."""
        if self.is_live:
            self._live.start()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self.is_live:
            self._live.stop()

    def say(self, line: str) -> None:
        """Something happened."""
        self._print(f"[{time.monotonic() - self._started_at:6.1f} s] {escape(line)}")

    def show_state(self, name: str, state: str) -> None:
        """How a part is now."""
        with self._lock:
            self._states[name] = (state, time.monotonic())
        # That something ended has just been said.
        if not self.is_live and not state.startswith("ended"):
            self.say(f"{name}: {state}")

    def show_rows(self, rows: Sequence[dict[str, Any]]) -> None:
        """Some rows of a table."""
        for line in lay_out_rows(rows):
            self._print(line)

    def _print(self, line: str) -> None:
        from rich.text import Text

        if self.is_live:
            self._console.print(Text(line))
        else:
            print(line, file=sys.stderr, flush=True)

    def _draw(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=False)
        now = time.monotonic()
        with self._lock:
            states = dict(self._states)
        for name, (state, since) in states.items():
            style = _STYLES.get(state.split(" ")[0], "yellow")
            shown = Text(escape(state)[:_STATE_CHARACTERS], style=style, no_wrap=True)
            table.add_row(Text(name), shown, Text(_write_age(now - since), style="dim"))
        return table


def _write_age(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"for {minutes} min {rest} s" if minutes else f"for {rest} s"


def lay_out_rows(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Rows as aligned lines, times without their date."""
    from zklake.cli.answers import lay_out

    if rows:
        yield from lay_out(list(rows[0]), [list(map(_write, row.values())) for row in rows])


def _write(value: Any) -> str:
    from datetime import datetime

    if isinstance(value, datetime):
        return value.strftime("%H:%M:%S.%f")[:-3] + "Z"
    return "" if value is None else str(value)
