"""What held in a pause, painted millisecond range by range; of several the first of the list."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

_ORDER = ("leader_away", "unowned", "owner_crashed")


@dataclass
class Paint:
    """Something held from `at` on; `to` None: it still does."""

    held: str
    at: int
    to: int | None
    seq: int
    who: tuple[Any, Any] | None = None
    broker: int | None = None

    def reaches(self, began: int, to: int) -> bool:
        """Whether it holds anywhere between the two."""
        end = to if self.to is None else self.to
        return max(self.at, began) < min(end, to)

    def covers(self, left: int, right: int) -> bool:
        """Whether it holds all the time between the two."""
        return self.at <= left and (self.to is None or self.to >= right)


class Tenure(NamedTuple):
    """Somebody had the partition; `to` and `seq` None: and still has. `who` None: nobody knows."""

    who: tuple[Any, Any] | None
    at: int
    to: int | None = None
    seq: int | None = None


class Piece(NamedTuple):
    """A part of a pause in which one thing held."""

    held: str
    at: int
    to: int
    seq: int | None = None
    who: tuple[Any, Any] | None = None
    broker: int | None = None


def tell(each: Paint, at: int, to: int) -> Piece:
    """A part of what was painted."""
    return Piece(each.held, at, to, each.seq, each.who, each.broker)


def paint(
    paints: list[Paint], tenures: list[Tenure], began: int, to: int, limit: int, *, old: bool
) -> list[Piece]:
    """The pieces in order; where nothing else held it was whoever had the partition, if that
    lasted for longer than the limit, all of its tenures together. `old`: ZooKeeper says who."""
    real = [each for each in paints if each.reaches(began, to)]
    marks = {began, to}
    both = [(each.at, each.to) for each in real] + [(one.at, one.to) for one in tenures]
    marks |= {at for pair in both for at in pair if at is not None and began < at < to}
    pieces, guesses = list[Piece](), list[Piece]()
    for left, right in pairwise(sorted(marks)):
        layers = [each for held in _ORDER for each in real if each.held == held]
        on_top = next((each for each in layers if each.covers(left, right)), None)
        if on_top is not None:
            pieces.append(tell(on_top, left, right))
        else:
            guesses.append(_guess(tenures, left, right, old=old))
    for guess in guesses:
        same = [g for g in guesses if (g.held, g.who) == (guess.held, guess.who)]
        if sum(g.to - g.at for g in same) > limit:
            pieces.append(guess)
    return _join(sorted(pieces, key=lambda piece: piece.at))


def _guess(tenures: list[Tenure], left: int, right: int, *, old: bool) -> Piece:
    for one in tenures:
        if one.at <= left and (one.to is None or one.to >= right):
            if one.who is None:
                return Piece("unknown", left, right)
            return Piece("owner_stuck", left, right, one.seq, one.who)
    return Piece("unowned" if old else "unknown", left, right)


def _join(pieces: list[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].to == piece.at:
            last = joined[-1]
            if (last.held, last.seq, last.who) == (piece.held, piece.seq, piece.who):
                joined[-1] = last._replace(to=piece.to)
                continue
        joined.append(piece)
    return joined


def measure(pieces: list[Piece], usual: int) -> dict[str, Any]:
    """How long each thing held, and how long at least nobody read."""
    least, held_ms = 0, dict[str, int]()
    for piece in pieces:
        length = piece.to - piece.at
        held_ms[piece.held] = held_ms.get(piece.held, 0) + length
        if piece.held == "owner_stuck" and piece.seq is None:
            # It may have read all it could since its last chance to commit.
            length = max(0, length - usual)
        least += 0 if piece.held == "unknown" else length
    spans = [
        {
            "held": piece.held,
            "from_ms": piece.at,
            "to_ms": piece.to,
            "event_seq": piece.seq,
            "owner_member_id": piece.who[1] if piece.who else None,
            "broker_id": piece.broker,
        }
        for piece in pieces
    ]
    return {"held_ms": held_ms, "least_ms": least, "spans": spans}
