"""Holes and repeats in the log's seq: judged once, when records are read, and written as events.

Pure. The watcher writes seq without hole or repeat, in transactions; they are not trusted blindly.
Both become events of the stream's own: `seq_hole` takes the last missing seq, `seq_repeat` that of
the next good record, so the guards of the tables hold for them too. A rebuild reads these events
and never judges anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from streaming.log.records import HOLE, REPEAT, LogPosition, OwnOp
from zklake.events.envelope import Event, Gap

# So many records can be missing; a larger jump is no log's, and would make all that follows it look
# like repeats.
LONGEST_JUMP = 2**31 - 1


class Entry(NamedTuple):
    """An event, and the offset of the record that holds it."""

    event: Event
    offset: int


@dataclass
class Continuity:
    """How far a log was read."""

    cluster: str
    log_id: str
    seq: int = -1
    at_ms: int | None = None
    # Records that came again, and that no good one has followed yet.
    _repeats: list[tuple[int, LogPosition]] = field(default_factory=list)

    def judge(self, place: LogPosition, offset: int) -> list[Entry] | str:
        """Events of a break before the record at that offset, or why it cannot be the next one."""
        jump = place.seq - self.seq
        if self.seq >= 0 and jump > LONGEST_JUMP:
            return f"seq {place.seq} is {jump} ahead of the record before: no log jumps that far"
        if self.seq >= 0 and jump <= 0:
            self._repeats.append((offset, place))
            return f"seq {place.seq} stands at an earlier offset already"
        breaks = []
        if self.seq >= 0 and jump > 1:
            breaks.append(self._make_event(HOLE, place.seq - 1, place, offset, missed=jump - 1))
        self.seq = place.seq
        self.at_ms = max(place.observed_at_ms, self.at_ms or 0)
        return breaks

    def goes_on(self, seq: int) -> bool:
        """Whether a record with that seq is the next one."""
        return self.seq < 0 or seq == self.seq + 1

    def pass_over(self, place: LogPosition) -> None:
        """Records without a break were read, up to that one."""
        self.seq, self.at_ms = place.seq, max(place.observed_at_ms, self.at_ms or 0)

    @property
    def has_repeats(self) -> bool:
        """Whether records came again that no good one has followed yet."""
        return bool(self._repeats)

    def emit_repeats(self, seq: int) -> list[Entry]:
        """Those that came again before the good record with that seq."""
        repeats = [self._make_event(REPEAT, seq, place, offset) for offset, place in self._repeats]
        self._repeats.clear()
        return repeats

    def _make_event(
        self, op: OwnOp, seq: int, place: LogPosition, offset: int, missed: int | None = None
    ) -> Entry:
        gap = Gap(f"{op}-{offset}", op, from_ms=self.at_ms if op == HOLE else None)
        event = Event(
            *(self.cluster, self.log_id, seq, op, place.observed_at_ms),
            path="/",
            gap=gap,
            missed=missed,
        )
        return Entry(event, offset)
