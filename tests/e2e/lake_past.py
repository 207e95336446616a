"""The tables of a lake as they were at any moment, and what began or ended between two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from delta_tables.catalog import TABLES
from delta_tables.reading import read_rows
from delta_tables.table import Table
from tests.reference.past import Contradiction
from tests.streaming.fold.test_law import make_plain

Row = dict[str, Any]
Fact = dict[str, Any]

# A delete bears no time: its row ends when the watcher saw it, a moment late on a busy machine.
LATE_MS = 500
# A state still held so long after its time was over: the lab looked again.
_AFTERGLOW_MS = 50
# After these the thing itself is gone; the others only end a state of it.
GONE = (
    "deleted",
    "session_ended",
    "migrated",
    "resync",
    "recreated",
    "removed",
    "finished",
    "cancelled",
)
_SEEN_LATE = ("deleted", "session_ended", "finished")


def read_table(lake: str, cluster: str, name: str) -> list[Row]:
    """All rows in the order of the log."""
    return read_rows(lake, cluster, f"SELECT * FROM {name} ORDER BY valid_from_seq")


class LakePast:
    """Every row of the interval tables; times in ms.

    Rows of one life of a thing share `life`, the seq at which it began: there `is_birth` is true.
    """

    def __init__(self, lake: str, cluster: str) -> None:
        self._rows = {
            table.name: _mark_lives(table, read_table(lake, cluster, table.name))
            for table in TABLES
            if table.is_interval
        }

    def find(self, table: str, **wanted: Any) -> list[Row]:
        """The rows with these values, in the order of the log."""
        return [
            row
            for row in self._rows[table]
            if all(row[name] == value for name, value in wanted.items())
        ]

    def at(self, table: str, ms: int, **wanted: Any) -> list[Row]:
        """The rows that held at that moment."""
        return [
            row
            for row in self.find(table, **wanted)
            if row["valid_from_at"] <= ms and (row["is_open"] or row["valid_to_at"] > ms)
        ]

    def one_at(self, table: str, ms: int, **wanted: Any) -> Row:
        """The only row that held at that moment."""
        return _only(self.at(table, ms, **wanted), f"rows of {table} {wanted} held at {ms}")

    def began(self, table: str, fact: Fact, **wanted: Any) -> Row:
        """The only life that began in the fact's time: its first row."""
        found = self.list_begun(table, fact, is_birth=True, **wanted)
        return _only(found, f"lives of {table} {wanted} began")

    def list_begun(self, table: str, fact: Fact, **wanted: Any) -> list[Row]:
        """The rows that began in the fact's time."""
        return [row for row in self.find(table, **wanted) if _has_begun(row, fact)]

    def ended(self, table: str, fact: Fact, **wanted: Any) -> Row:
        """The only life that ended in the fact's time: its last row."""
        ends = [row for row in self.find(table, **wanted) if row["ended_by"] in GONE]
        latest = fact["to_ms"] + LATE_MS
        found = [row for row in ends if fact["from_ms"] <= row["valid_to_at"] <= latest]
        return _only(found, f"lives of {table} {wanted} ended")

    def find_effect_ms(self, row: Row) -> int:
        """When the next state of a topic or partition was written, by ZooKeeper's clock."""
        later = [
            each
            for each in (*self.find("topics"), *self.find("partition_state"))
            if each["is_known"] and each["valid_from_seq"] > row["valid_from_seq"]
        ]
        following = min(later, key=lambda each: int(each["valid_from_seq"]), default=row)
        return int(following["valid_from_at"])

    def late_moments(self, ms: int) -> list[int]:
        """That moment, and those right after at which the end of something was seen."""
        ends = {
            row["valid_to_at"]
            for rows in self._rows.values()
            for row in rows
            if row["ended_by"] in _SEEN_LATE and ms < row["valid_to_at"] <= ms + _AFTERGLOW_MS
        }
        return [ms, *sorted(ends)]


def _mark_lives(table: Table, rows: Iterable[Row]) -> list[Row]:
    marked: list[Row] = []
    latest: dict[str, Row] = {}
    for row in rows:
        state = {name: make_plain(value) for name, value in row.items()}
        identity = repr([state[name] for name in table.key])
        former = latest.get(identity)
        is_birth = former is None or former["ended_by"] in GONE
        state["life"] = state["valid_from_seq"] if former is None or is_birth else former["life"]
        latest[identity] = {**state, "is_birth": is_birth}
        marked.append(latest[identity])
    return marked


def _has_begun(row: Row, fact: Fact) -> bool:
    # Of a znode that was gone before it could be read, ZooKeeper's own time is not known.
    latest = fact["to_ms"] + (0 if row["is_known"] else LATE_MS)
    return bool(fact["from_ms"] <= row["valid_from_at"] <= latest)


def _only(rows: list[Row], what: str) -> Row:
    if len(rows) != 1:
        raise Contradiction(f"{len(rows)} {what}, not one")
    return rows[0]
