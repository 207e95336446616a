"""One kind of znode of the aged cluster: SQL over `k` (which one) and `r` (which state of it)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from delta_tables.table import Table

SESSION = 0x100000000


@dataclass(frozen=True)
class Thing:
    """One kind of znode, and the table that its states make."""

    kind: str
    table: Table
    count: int
    # Its place among the reads of a frame.
    first: int
    path: str
    data: str
    # The table's own columns.
    columns: Mapping[str, str]
    # Which lots (of 1000) change it; none: it never changes.
    lots: tuple[int, int] | None = None
    # Whether it comes and goes, instead of being written again and again.
    is_claimed: bool = False
    session: str | None = None


@dataclass
class Places:
    """Hands out the places in a frame."""

    taken: int = 0
    things: list[Thing] = field(default_factory=list)

    def add(self, kind: str, table: Table, count: int, **facts: object) -> None:
        self.things.append(Thing(kind, table, count, self.taken, **facts))  # type: ignore[arg-type]
        self.taken += count


def time_sql(ms: str) -> str:
    """SQL: epoch milliseconds as Delta's timestamp."""
    return f"arrow_cast(to_timestamp_millis({ms}), 'Timestamp(Microsecond, Some(\"UTC\"))')"
