"""What one look at a lake saw: which version of every table. Plain data, which opens nothing."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import msgspec

from delta_tables.asking.cancellation import Cancellation
from delta_tables.catalog import TABLES

Row = dict[str, Any]
NAMES = tuple(table.name for table in TABLES)


class State(NamedTuple):
    """Which table it is, in which version: one that was made anew counts its versions anew."""

    id: str
    version: int


class Snapshot(msgspec.Struct, frozen=True):
    """Versions of tables that belong together, and when the first and the last event was."""

    tables: dict[str, State] = {}
    first_ms: int | None = None
    last_ms: int | None = None


class Asking(msgspec.Struct, frozen=True):
    """A query of our own, of these tables in these versions.

    `only`: by table, a condition; rows that do not meet it are not there.
    """

    sql: str
    tables: dict[str, State]
    only: dict[str, str] = {}


class SnapshotGone(Exception):
    """Files of that version were cleaned away: ask anew, of a later one."""


class Source(Protocol):
    """Who opens tables and runs queries: this process, or one beside it."""

    def look(self, *, anew: bool = False) -> Snapshot:
        """The newest versions that belong together; `anew` opens every table again."""

    def ask(self, asking: Asking, cancellation: Cancellation) -> list[Row]:
        """Rows; SnapshotGone, QueryError, LakeError."""

    def list_files(self, name: str, state: State) -> dict[str, list[Any]]:
        """What Delta's log says of a table's files, by column."""
