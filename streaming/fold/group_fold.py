"""What a fold of groups is: it follows the log event by event, and says what its tables must hold.

Pure. A fold remembers more than the open rows of its tables; all of it can be read back from the
lake, so rows as of some seq and the events after it make the same fold as never having stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from streaming.fold.changes import Change
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.row import Row
from zklake.events.envelope import Event


@dataclass(frozen=True)
class TableRows:
    """What a table must hold as of `seq`: the open rows whole, and those that have ended since."""

    open_rows: Sequence[Row]
    ended_rows: Sequence[Row]
    seq: int


class GroupFold(Protocol):
    """One family of tables."""

    @property
    def tables(self) -> tuple[str, ...]:
        """In the order in which they are committed."""

    def apply(
        self,
        event: Event,
        changes: Sequence[Change],
        cluster_state: ClusterState,
        context: Context,
    ) -> None:
        """Take one event, after the cluster's state has; `changes` are what it did there."""

    def pass_time(self, seq: int, at_ms: int) -> None:
        """An event came that changes nothing here."""

    def take(self, *, idle: bool = False) -> dict[str, TableRows]:
        """Of each table that has news, what it must hold; with `idle` of every table."""
