"""How far long work has come, on stderr: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

# Without a terminal: a line each time so much more is done.
_STEP = 0.1


class Progress(Protocol):
    """Told how far it is."""

    def show(self, title: str, done: int, total: int | None) -> None:
        """So much of the work of this title is done; no total: nobody knows how much there is."""

    def say(self, line: str) -> None:
        """Something to know beside it."""


class Lines:
    """Plain lines, through any function that takes one."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._title, self._done = "", 0

    def show(self, title: str, done: int, total: int | None) -> None:
        """A line for a new title, for every tenth, and for the end."""
        is_new, is_last = title != self._title, done == total
        step = _STEP * total if total else 1
        if not (is_new or done - self._done >= step or (is_last and done > self._done)):
            return
        self._title, self._done = title, done
        self._write(f"{title}: {done:,}" + (f" of {total:,}" if total else ""))

    def say(self, line: str) -> None:
        """The line."""
        self._write(line)


class Bar:
    """One line of a terminal, which follows the title given last."""

    def __init__(self, shown: RichProgress) -> None:
        self._shown = shown
        self._tasks: dict[str, TaskID] = {}

    def show(self, title: str, done: int, total: int | None) -> None:
        """Draw it."""
        if title not in self._tasks:
            for task in self._tasks.values():
                self._shown.update(task, visible=False)
            self._tasks[title] = self._shown.add_task(title, total=total)
        self._shown.update(self._tasks[title], completed=done, total=total)

    def say(self, line: str) -> None:
        """Above the bar."""
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        self._shown.console.print(Text(line))


class NoProgress:
    """For work whose result is its own progress."""

    def show(self, title: str, done: int, total: int | None) -> None:
        """Nothing."""

    def say(self, line: str) -> None:
        """Nothing."""


@contextmanager
def show_progress(*, has_lines: bool = True) -> Iterator[Progress]:
    """A bar while stderr is a terminal; else lines, or nothing at all."""
    if not sys.stderr.isatty():
        yield Lines(_print) if has_lines else NoProgress()
        return
    from rich import progress  # noqa: PLC0415 - only a terminal pays for rich
    from rich.console import Console  # noqa: PLC0415

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    # Results must not go to stderr, except where both are the same terminal.
    with progress.Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    ) as shown:
        yield Bar(shown)


def follow(shown: Progress, title: str, work: Sequence[str]) -> Iterator[str]:
    """The pieces of work one after the other; that the next is asked for means this one is done."""
    for done, piece in enumerate(work):
        shown.show(title, done, len(work))
        yield piece
    shown.show(title, len(work), len(work))


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201
