"""A row of a step table while it is folded: columns by name; times are epoch milliseconds.

Pure. What all interval rows have in common: how one opens, how it ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zklake.events.envelope import Event, Stat

Row = dict[str, Any]

# The times that Spark's timestamps and Python's both can hold.
_LAST_MS = 253_402_300_799_999


class Moment(NamedTuple):
    """Where in the log and when something happened. `min_ms`: a gap hid it, it came after this."""

    seq: int
    zxid: int | None
    at_ms: int | None
    min_ms: int | None = None


def find_moment(event: Event) -> Moment:
    """The moment of a create, set, read or delete: by the znode's own clock, where it is known."""
    stat = event.stat or Stat()
    zxid, at_ms = {
        "create": (stat.czxid, stat.ctime),
        "delete": (event.zxid, None),
    }.get(event.op, (stat.mzxid, stat.mtime))
    return Moment(
        event.seq,
        event.zxid if zxid is None else zxid,
        event.observed_at_ms if at_ms is None else at_ms,
    )


def tame(at_ms: int | None) -> int | None:
    """A time, or None where it is wild."""
    return at_ms if at_ms is not None and 0 <= at_ms <= _LAST_MS else None


def open_row(cluster: str, seq: int, zxid: int | None, at_ms: int | None, **columns: Any) -> Row:
    """A state that begins."""
    return {
        "cluster": cluster,
        **columns,
        "seen_seq": seq,
        "valid_from_seq": seq,
        "valid_from_zxid": zxid,
        "valid_from_at": tame(at_ms),
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
    began, ended = row["valid_from_at"], tame(at_ms)
    clamped = began is not None and ended is not None and ended < began
    row.update(
        valid_to_seq=seq,
        valid_to_zxid=zxid,
        valid_to_at=began if clamped else ended,
        valid_to_at_min=tame(at_min_ms),
        is_clamped=clamped,
        ended_by=ended_by,
        is_open=False,
    )


def end_row(row: Row, moment: Moment, ended_by: str) -> None:
    """End a state at a moment."""
    close_row(row, *moment[:3], ended_by=ended_by, at_min_ms=moment.min_ms)
