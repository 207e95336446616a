"""Who or what kept a group from reading, and when, within one silence. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from streaming.fold.pauses.silence import Silence, Span

# What surely keeps everybody from reading; where several hold, the first counts.
_CERTAIN = ("leader_away", "unowned", "owner_crashed")


def find_pieces(
    silence: Silence, coordinator: str, begin_ms: int, to_ms: int, pause_after_ms: int
) -> list[Span]:
    """What held when, in order, one thing at a time; what lies between may have been read.

    Where nothing certain held it was the owner, if it had the partition for longer than usual, in
    one piece or not: an old consumer commits what it has read before it lets go, and whoever claims
    next, the same one too, begins at what is committed.
    """
    certain: dict[tuple[int, int], Span] = {}
    doubtful: dict[tuple[int, int], Span] = {}
    lasted_ms: Counter[tuple[str, ...]] = Counter()
    edges = [*pairwise(_cut(silence, begin_ms, to_ms))]
    for from_ms, until_ms in edges:
        if (span := _find_certain(silence, from_ms, until_ms)) is not None:
            certain[from_ms, until_ms] = span
        else:
            span = doubtful[from_ms, until_ms] = _find_owner(
                silence, coordinator, from_ms, until_ms
            )
            lasted_ms[_find_who(span)] += until_ms - from_ms
    limit_ms = silence.find_limit(pause_after_ms)
    pieces: list[Span] = []
    for edge in edges:
        span = certain.get(edge) or doubtful[edge]
        if edge in certain or lasted_ms[_find_who(span)] > limit_ms:
            _add(pieces, span, *edge)
    return pieces


def find_main(pieces: list[Span]) -> Span:
    """What held longest, and of those whose doing it was for longest; of equals the first."""
    held_ms: Counter[str] = Counter()
    by_whom_ms: Counter[tuple[str, ...]] = Counter()
    for piece in pieces:
        held_ms[piece.held] += piece.lasted_ms
        by_whom_ms[_find_who(piece)] += piece.lasted_ms

    def measure(piece: Span) -> tuple[int, int]:
        return held_ms[piece.held], by_whom_ms[_find_who(piece)]

    return max(pieces, key=measure, default=Span("unknown", 0))


def find_present(silence: Silence, coordinator: str, pause_after_ms: int) -> Span:
    """What holds while it lasts: what still does, else what did longest, else the owner."""
    ongoing = [span for span in silence.spans if span.to_ms is None]
    if ongoing:
        return min(ongoing, key=lambda span: _CERTAIN.index(span.held))
    assert silence.from_ms is not None
    if not silence.is_stuck:
        # Of the present owner only rounds say for how long it has read nothing.
        ends = [each.to_ms or 0 for each in (*silence.spans, *silence.tenures)]
        until_ms = max(*ends, silence.claim_ms or 0, 0)
        pieces = find_pieces(silence, coordinator, silence.from_ms, until_ms, pause_after_ms)
        if pieces:
            return find_main(pieces)
    return _hold_by_owner(silence, coordinator)


def is_stuck(silence: Silence, coordinator: str, at_ms: int, pause_after_ms: int) -> bool:
    """Whether it is the present owner by now, whatever held before it claimed the partition."""
    assert silence.from_ms is not None
    if not silence.has_owner or any(span.to_ms is None for span in silence.spans):
        return False
    pieces = find_pieces(silence, coordinator, silence.from_ms, at_ms, pause_after_ms)
    return bool(pieces) and pieces[-1].to_ms == at_ms and pieces[-1].held == "owner_stuck"


def _cut(silence: Silence, begin_ms: int, to_ms: int) -> Iterator[int]:
    """Moments between which the same holds."""
    edges = {begin_ms, max(begin_ms, to_ms)}
    for span in (*silence.spans, *silence.tenures):
        if (clipped := span.clip(begin_ms, to_ms)) is not None:
            edges |= {*clipped}
    for at_ms in (silence.claim_ms, silence.forgotten_ms):
        if at_ms is not None and begin_ms < at_ms < to_ms:
            edges.add(at_ms)
    return iter(sorted(edges))


def _find_certain(silence: Silence, from_ms: int, until_ms: int) -> Span | None:
    holding = [span for span in silence.spans if span.covers(from_ms, until_ms)]
    return min(holding, key=lambda span: _CERTAIN.index(span.held), default=None)


def _find_owner(silence: Silence, coordinator: str, from_ms: int, until_ms: int) -> Span:
    """Nothing else to be seen: then it is whoever owned the partition then, if anybody did."""
    if until_ms <= (silence.forgotten_ms or 0):
        return Span("unknown", 0)
    for tenure in silence.tenures:
        if tenure.covers(from_ms, until_ms):
            return tenure
    if silence.has_owner and from_ms < (silence.claim_ms or 0):
        return Span("unowned" if coordinator == "zookeeper" else "unknown", 0)
    return _hold_by_owner(silence, coordinator)


def _hold_by_owner(silence: Silence, coordinator: str) -> Span:
    if silence.has_owner:
        return Span("owner_stuck", 0, None, None, silence.owner, silence.owner_member_id)
    return Span("unowned" if coordinator == "zookeeper" else "unknown", 0)


def _find_who(span: Span) -> tuple[str, ...]:
    return span.held, str(span.owner), str(span.owner_member_id), str(span.broker_id)


def _add(pieces: list[Span], span: Span, from_ms: int, until_ms: int) -> None:
    last = pieces[-1] if pieces else None
    if last is not None and last.to_ms == from_ms:
        same = (last.event_seq, _find_who(last)) == (span.event_seq, _find_who(span))
        if same:
            last.to_ms = until_ms
            return
    who = span.owner, span.owner_member_id, span.broker_id
    pieces.append(Span(span.held, from_ms, until_ms, span.event_seq, *who))
