"""What a table may know of an event besides the event itself: what it ends, what hid it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from delta_tables.observation import read_millis
from streaming.fold.frames import FRAME_OPS, Closure, Frames
from streaming.fold.life import Moment, find_moment
from zklake.events.envelope import Event


class Context(NamedTuple):
    """The place of one event in the log."""

    # A delete that is part of the end of a session.
    closes_session: bool = False
    # The event ends a frame that closes what it did not meet.
    closure: Closure | None = None
    # Whether the watcher had not yet seen everything again, and when it last had.
    is_blind: bool = False
    gap_from_ms: int | None = None
    # How the member left whose session ends, as `exit` of consumer_membership says.
    exit: str | None = None

    def find_end(self, event: Event) -> Moment:
        """The moment of a delete; one that was inferred happened somewhere in the gap."""
        moment = find_moment(event)
        if event.origin != "resync":
            return moment
        return moment._replace(min_ms=self.gap_from_ms)

    def find_resync(self, closure: Closure) -> Moment:
        """The moment of a frame's end, for what it did not meet."""
        return Moment(closure.end_seq, None, read_millis(closure.observed_at_ms), self.gap_from_ms)


IN_SIGHT = Context()
_OF_GAPS = ("gap", "in_sync")


@dataclass
class OpenGaps:
    """The gaps of the whole tree that are in force, oldest first: since when nobody could see."""

    since: dict[str, int | None] = field(default_factory=dict)

    @property
    def newest_ms(self) -> int | None:
        """When the watcher had last seen everything; of several gaps the newest counts."""
        return next(reversed(self.since.values()), None)

    def apply(self, event: Event) -> None:
        """Take one event."""
        if event.op == "in_sync":
            self.since.clear()
        elif event.op == "gap" and begins_blindness(event):
            assert event.gap is not None
            self.since.setdefault(event.gap.id, read_millis(event.gap.from_ms))


@dataclass
class TreeSight:
    """What the watcher has seen of the tree as a whole: its frames, and the gaps in force."""

    frames: Frames = field(default_factory=Frames)
    gaps: OpenGaps = field(default_factory=OpenGaps)

    def find_context(self, event: Event, *, closes_session: bool = False) -> Context:
        """The place of the next event in the log."""
        gaps = self.gaps
        if not (closes_session or gaps.since or event.op in FRAME_OPS):
            return IN_SIGHT
        closure = self.frames.follow(event)
        return Context(closes_session, closure, bool(gaps.since), gaps.newest_ms)

    def apply(self, event: Event) -> None:
        """Take one event, after everything else has."""
        if event.op in _OF_GAPS:
            self.gaps.apply(event)


def begins_blindness(event: Event) -> bool:
    """Whether a gap hides the whole tree, and not only what one hid."""
    return event.gap is not None and event.gap.lives is None and event.path == "/"
