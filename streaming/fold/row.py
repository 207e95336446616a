"""A row while it is folded: columns by name; times are epoch milliseconds.

Pure. What all interval rows have in common: how one opens, how it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from delta_tables.observation import read_millis
from streaming.fold.life import Moment

Row = dict[str, Any]
# A row as the lake stores it: its columns in their order, all but closed_on.
StoredRow = tuple[Any, ...]


class StoredRows(Sequence[Row]):
    """Rows as tuples, where there are many: as dicts they would take five times the memory."""

    __slots__ = ("names", "tuples")

    def __init__(self, names: Sequence[str], tuples: Sequence[StoredRow]) -> None:
        """`names` of all columns but closed_on, in the table's order."""
        self.names, self.tuples = names, tuples

    def __len__(self) -> int:
        return len(self.tuples)

    def __iter__(self) -> Iterator[Row]:
        return (dict(zip(self.names, values, strict=True)) for values in self.tuples)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> StoredRows: ...
    def __getitem__(self, place: int | slice) -> Row | StoredRows:
        if isinstance(place, slice):
            return StoredRows(self.names, self.tuples[place])
        return dict(zip(self.names, self.tuples[place], strict=True))


def open_row(cluster: str, seq: int, zxid: int | None, at_ms: int | None, **columns: Any) -> Row:
    """A state that begins."""
    return {
        "cluster": cluster,
        **columns,
        "seen_seq": seq,
        "valid_from_seq": seq,
        "valid_from_zxid": zxid,
        "valid_from_at": read_millis(at_ms),
        "valid_to_seq": None,
        "valid_to_zxid": None,
        "valid_to_at": None,
        "valid_to_at_min": None,
        "is_clamped": False,
        "ended_by": None,
        "is_open": True,
    }


def close_row(
    row: Row,
    seq: int,
    zxid: int | None,
    at_ms: int | None,
    *,
    ended_by: str,
    at_min_ms: int | None = None,
) -> None:
    """End a state; never before it began."""
    began, ended = row["valid_from_at"], read_millis(at_ms)
    clamped = began is not None and ended is not None and ended < began
    row.update(
        valid_to_seq=seq,
        valid_to_zxid=zxid,
        valid_to_at=began if clamped else ended,
        valid_to_at_min=read_millis(at_min_ms),
        is_clamped=clamped,
        ended_by=ended_by,
        is_open=False,
    )


def end_row(row: Row, moment: Moment, ended_by: str) -> None:
    """End a state at a moment."""
    close_row(row, *moment[:3], ended_by=ended_by, at_min_ms=moment.min_ms)
