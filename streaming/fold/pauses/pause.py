"""Whether a silence is a pause, and what it came to: computed once, when it ends. Pure."""

from __future__ import annotations

from typing import NamedTuple

from streaming.fold.pauses.silence import UNMEASURED_WAIT_MS, Silence, Span
from streaming.fold.row import Row


class End(NamedTuple):
    """When and how a silence ends. `log_end`: by the last round before, if it is known."""

    at_ms: int
    seq: int
    word: str
    log_end: int | None
    # The offset that was committed then.
    offset: int | None = None


def is_pause(silence: Silence, begin_ms: int, to_ms: int, pause_after_ms: int) -> bool:
    """Something held, or it lasted longer than usual."""
    lasted_ms = to_ms - begin_ms
    # No limit is below pause_after_ms: most silences need no other.
    if lasted_ms > pause_after_ms and lasted_ms > silence.find_limit(pause_after_ms):
        return True
    return bool(silence.spans) and any(span.clip(begin_ms, to_ms) for span in silence.spans)


def measure(silence: Silence, pieces: list[Span], begin_ms: int, end: End) -> Row:
    """The columns that are known when it is over."""
    records = _count_records(silence, end)
    longest_ms = end.at_ms - (begin_ms if silence.empty_ms is None else silence.empty_ms)
    known: Row = {"most_ms": longest_ms, "usual_ms": silence.usual_ms, **records}
    if silence.is_hidden:
        return known | {"reason": "gap"}
    held_ms: dict[str, int] = {}
    for piece in pieces:
        held_ms[piece.held] = held_ms.get(piece.held, 0) + piece.lasted_ms
    return known | {
        "least_ms": sum(_find_least(piece, silence) for piece in pieces),
        "held_ms": dict(sorted(held_ms.items())),
        "spans": [_write_span(piece) for piece in pieces],
        "reason": "no_log_end" if records["records"] is None else None,
    }


def _count_records(silence: Silence, end: End) -> Row:
    waiting = [] if end.log_end is None else [end.log_end - silence.offset]
    if end.offset is not None:
        waiting.append(end.offset - silence.offset)
    both = None not in (end.log_end, silence.log_end)
    came = max(0, (end.log_end or 0) - (silence.log_end or 0)) if both else None
    return {"records": came, "records_waiting": max(0, *waiting) if waiting else None}


def _find_least(piece: Span, silence: Silence) -> int:
    """An owner that commits late may have read for as long as it usually does before it commits.

    Of one that let go without a commit that is lost: whoever comes next reads it again.
    """
    if piece.held == "unknown":
        return 0
    if piece.held != "owner_stuck" or piece.event_seq is not None:
        return piece.lasted_ms
    usual_ms = UNMEASURED_WAIT_MS if silence.usual_ms is None else silence.usual_ms
    return max(0, piece.lasted_ms - usual_ms)


def _write_span(piece: Span) -> Row:
    return {
        "held": piece.held,
        "from_ms": piece.from_ms,
        "to_ms": piece.to_ms,
        "event_seq": piece.event_seq,
        "owner_member_id": piece.owner_member_id,
        "broker_id": piece.broker_id,
    }
