"""A row while it is folded: columns by name; times are epoch milliseconds.

Pure. What all interval rows have in common: how one opens, how it ends.
"""

from __future__ import annotations

from typing import Any

from delta_tables.observation import read_millis
from streaming.fold.life import Moment

Row = dict[str, Any]


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
