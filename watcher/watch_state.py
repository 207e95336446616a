"""What the parts of the chronicle share: the reads under way, the scan, the gap. Data only."""

from __future__ import annotations

from typing import NamedTuple

from watcher.messages import WatchEvent
from watcher.release import Release, Slot
from watcher.scan import Scan
from zklake.events.envelope import Gap, GapReason, Origin


class WatchMode(NamedTuple):
    """What a kind of watch can do."""

    # One watch covers the whole tree; else every read arms a watch that fires once.
    is_recursive: bool
    # How a change was known without an event, though no gap lies before it.
    lost_origin: Origin
    # Why lives are counted by a scan, though no gap lies before it.
    lives_reason: GapReason


RECURSIVE = WatchMode(is_recursive=True, lost_origin="resync", lives_reason="event_lost")
ONE_SHOT = WatchMode(is_recursive=False, lost_origin="watch", lives_reason="coalesced")


class Reading:
    """A read under way, and the watch events that wait for it."""

    __slots__ = ("events", "of_scan", "slots", "trusted")

    def __init__(self, trusted: bool, of_scan: bool) -> None:
        self.events: list[WatchEvent] = []
        self.slots: list[Slot] = []
        # False when a gap may lie between the model and what is about to be read.
        self.trusted = trusted
        self.of_scan = of_scan


class WatchState:
    """One tree that is followed; `release` has the model, and the log."""

    def __init__(self, release: Release, mode: WatchMode) -> None:
        self.release = release
        self.mode = mode
        self.scan: Scan | None = None
        self.in_sync = False
        # The gap that is open: what began it, and the last moment at which the log was complete.
        self.gap: Gap | None = None
        self.readings: dict[str, Reading] = {}
        self.is_frame_wanted = False
        # Reads that an audit may still send before the next tick.
        self.audit_allowance = 0
        self.audits = 0
        self.audit_differences = 0
        # Scans that are done, and whose end waits for its place in the log.
        self.concluding = 0
