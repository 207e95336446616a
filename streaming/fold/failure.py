"""An event that the fold cannot take: which one it is. Others must not wait for it for ever."""

from __future__ import annotations


class Unfoldable(Exception):
    """The event with this seq cannot be folded, for a reason that we did not foresee."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"the event with seq {seq} could not be folded: {reason}")
        self.seq, self.reason = seq, reason


def blame_event(seq: int, error: Exception) -> Unfoldable:
    """What an error means that came while an event was folded."""
    return Unfoldable(seq, f"{type(error).__name__}: {error}")
