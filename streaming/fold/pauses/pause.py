"""Whether a silence is a pause, and what it came to: computed once, when it ends. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from streaming.fold.pauses.silence import UNMEASURED_WAIT_MS, Silence, Span
from streaming.fold.row import Row

# What surely keeps everybody from reading; where several hold, the first counts.
_CERTAIN = ("leader_away", "unowned", "owner_crashed")


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


def find_pieces(
    silence: Silence, coordinator: str, begin_ms: int, to_ms: int, pause_after_ms: int
) -> list[Span]:
    """What held when, in order, one thing at a time; what lies between may have been read."""
    pieces: list[Span] = []
    for from_ms, until_ms in _cut(silence, begin_ms, to_ms):
        span = _find_holder(silence, from_ms, until_ms)
        if span is None and until_ms - from_ms > silence.find_limit(pause_after_ms):
            span = _hold_by_owner(silence, coordinator)
        if span is not None:
            _add(pieces, span, from_ms, until_ms)
    return pieces


def _cut(silence: Silence, begin_ms: int, to_ms: int) -> Iterator[tuple[int, int]]:
    """Stretches in which the same spans hold; those in which none does are left whole."""
    edges = {begin_ms, to_ms}
    for span in silence.spans:
        if (clipped := span.clip(begin_ms, to_ms)) is not None:
            edges |= {*clipped}
    return pairwise(sorted(edges))


def _find_holder(silence: Silence, from_ms: int, until_ms: int) -> Span | None:
    holding = [
        span
        for span in silence.spans
        if span.from_ms <= from_ms and (span.to_ms is None or span.to_ms >= until_ms)
    ]
    return min(holding, key=lambda span: _CERTAIN.index(span.held), default=None)


def _hold_by_owner(silence: Silence, coordinator: str) -> Span:
    """Longer than usual, and nothing else to be seen: then it is the owner, if there is one."""
    if silence.has_owner:
        return Span("owner_stuck", 0, None, None, silence.owner, silence.owner_member_id)
    return Span("unowned" if coordinator == "zookeeper" else "unknown", 0)


def _add(pieces: list[Span], span: Span, from_ms: int, until_ms: int) -> None:
    last = pieces[-1] if pieces else None
    same = (span.held, span.event_seq)
    if last is not None and last.to_ms == from_ms and (last.held, last.event_seq) == same:
        last.to_ms = until_ms
        return
    who = span.owner, span.owner_member_id, span.broker_id
    pieces.append(Span(span.held, from_ms, until_ms, span.event_seq, *who))


def measure(silence: Silence, pieces: list[Span], begin_ms: int, end: End) -> Row:
    """The columns that are known when it is over."""
    records = _count_records(silence, end)
    longest_ms = end.at_ms - (begin_ms if silence.empty_ms is None else silence.empty_ms)
    known: Row = {"most_ms": longest_ms, "usual_ms": silence.usual_ms, **records}
    if silence.is_hidden:
        return known | {"reason": "gap"}
    held_ms: dict[str, int] = {}
    for piece in pieces:
        held_ms[piece.held] = held_ms.get(piece.held, 0) + _measure(piece)
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


def _measure(piece: Span) -> int:
    return (piece.to_ms or 0) - piece.from_ms


def _find_least(piece: Span, silence: Silence) -> int:
    """An owner that commits late may have read for as long as it usually does before it commits."""
    if piece.held == "unknown":
        return 0
    if piece.held != "owner_stuck":
        return _measure(piece)
    usual_ms = UNMEASURED_WAIT_MS if silence.usual_ms is None else silence.usual_ms
    return _measure(piece) - usual_ms


def _write_span(piece: Span) -> Row:
    return {
        "held": piece.held,
        "from_ms": piece.from_ms,
        "to_ms": piece.to_ms,
        "event_seq": piece.event_seq,
        "owner_member_id": piece.owner_member_id,
        "broker_id": piece.broker_id,
    }


def find_main(pieces: list[Span]) -> Span:
    """What held longest; of equals the first."""
    totals: dict[str, int] = {}
    for piece in pieces:
        totals[piece.held] = totals.get(piece.held, 0) + _measure(piece)
    held = max(totals, key=lambda name: totals[name], default="unknown")
    return next((piece for piece in pieces if piece.held == held), Span("unknown", 0))


def find_present(silence: Silence, coordinator: str) -> Span:
    """What holds while it lasts: what still does, else what did longest, else the owner."""
    ongoing = [span for span in silence.spans if span.to_ms is None]
    if ongoing:
        return min(ongoing, key=lambda span: _CERTAIN.index(span.held))

    def measure(span: Span) -> int:
        return (span.to_ms or 0) - max(span.from_ms, silence.from_ms or 0)

    longest = max(silence.spans, key=measure, default=None)
    if longest is not None and measure(longest) > 0:
        return longest
    return _hold_by_owner(silence, coordinator)
