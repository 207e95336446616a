"""What a machine is: it follows the log event by event, and says what its tables must hold.

Pure. A machine remembers more than the open rows of its tables; all of it can be read back from the
lake, so rows as of some seq and the events after it make the same machine as never having stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from streaming.fold.changes import Change
from streaming.fold.context import Context
from streaming.fold.row import Row
from streaming.fold.standing import Standing
from zklake.events.envelope import Event


@dataclass(frozen=True)
class Taken:
    """What a table must hold as of `seq`: the open rows whole, and those that have ended since."""

    open_rows: list[Row]
    ended_rows: list[Row]
    seq: int


class Machine(Protocol):
    """One family of tables."""

    @property
    def tables(self) -> tuple[str, ...]:
        """In the order in which they are committed."""

    def follow(
        self,
        event: Event,
        changes: Sequence[Change],
        standing: Standing,
        context: Context,
    ) -> None:
        """Take one event, after the standing has; `changes` are what it did there."""

    def pass_time(self, seq: int, at_ms: int) -> None:
        """An event came that changes nothing here."""

    def take(self, *, idle: bool = False) -> dict[str, Taken]:
        """Of each table that has news, what it must hold; with `idle` of every table."""
