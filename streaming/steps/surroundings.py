"""What a step table may know of an event besides the event: what it ends, what hid it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from streaming.frames import Closure
from streaming.steps.row import Moment, find_moment
from zklake.events.envelope import Event

# (cluster, seq)
Place = tuple[str, int]


class Blindness(NamedTuple):
    """A range of seq in which a gap was in force, and since when the watcher had been blind."""

    cluster: str
    first_seq: int
    last_seq: int | None
    from_ms: int | None


@dataclass(frozen=True)
class Surroundings:
    """By place in the log. `session_closes`: deletes that ended a session; `closures`: by the place
    of the in_sync that ends the frame."""

    session_closes: Collection[Place] = ()
    closures: Mapping[Place, Closure] = field(default_factory=dict)
    blindness: tuple[Blindness, ...] = ()

    def is_blind(self, event: Event) -> bool:
        """Whether the watcher, at this place in the log, had not yet seen everything again."""
        return self._find_blindness(event.cluster, event.seq) is not None

    def find_gap(self, cluster: str, seq: int) -> int | None:
        """When the watcher, at this place in the log, had last seen everything."""
        gap = self._find_blindness(cluster, seq)
        return None if gap is None else gap.from_ms

    def _find_blindness(self, cluster: str, seq: int) -> Blindness | None:
        for gap in reversed(self.blindness):
            is_before_end = gap.last_seq is None or seq <= gap.last_seq
            if gap.cluster == cluster and gap.first_seq <= seq and is_before_end:
                return gap
        return None

    def find_end(self, event: Event) -> Moment:
        """The moment of a delete; one that was inferred happened somewhere in the gap."""
        gap_ms = self.find_gap(event.cluster, event.seq) if event.origin == "resync" else None
        return find_moment(event)._replace(min_ms=gap_ms)

    def find_resync(self, closure: Closure) -> Moment:
        """The moment of a frame's end, for what it did not meet."""
        gap_ms = self.find_gap(closure.cluster, closure.end_seq)
        return Moment(closure.end_seq, None, closure.observed_at_ms, gap_ms)
