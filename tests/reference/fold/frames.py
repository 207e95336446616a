"""Frames: which complete look at the tree ends every row that it did not show."""

from __future__ import annotations

from zklake.events.envelope import Event


class Frames:
    """The begins seen, the last complete frame, the last hole in the log."""

    def __init__(self) -> None:
        self.begins: dict[str, int] = {}
        self.last_complete = -1
        self.holes: list[int] = []

    def begin(self, event: Event) -> None:
        """frame_begin; the same id again is a new look."""
        if event.frame is not None:
            self.begins[event.frame.id] = event.seq

    def miss(self, event: Event) -> None:
        """seq_hole: some deletes may be lost."""
        self.holes.append(event.seq)

    def complete(self, event: Event) -> int | None:
        """in_sync; the frame's begin if it is a closure. One with a hole in it is not complete."""
        if event.frame is None or event.frame.id not in self.begins:
            return None
        begin_seq = self.begins[event.frame.id]
        if any(hole > begin_seq for hole in self.holes):
            return None
        has_hole = any(self.last_complete < hole < begin_seq for hole in self.holes)
        self.last_complete = begin_seq
        return begin_seq if event.frame.base == "none" or has_hole else None
