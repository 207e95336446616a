"""One connection of the watcher, as the log shows it: the events from one gap to the next."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from tests.reference.alignment import Run
from tests.reference.ledger import Ledger
from tests.reference.published import CHANGE_OPS, Published

# How many events in a row must fit the log where sight returned and no zxid says so.
_FIT = 40


@dataclass(frozen=True)
class Connection:
    """Its events, without the gap that ended it; `ended_by` is None at the end of the log."""

    events: list[Published]
    ended_by: Published | None

    @property
    def came_in_sync(self) -> bool:
        """From the moment its watch was set, everything was seen and told."""
        return any(event.op == "in_sync" for event in self.events)

    def watched(self) -> list[Published]:
        """What watch events told."""
        return [e for e in self.events if e.op in CHANGE_OPS and e.origin == "watch"]

    def run(self, ledger: Ledger) -> Run:
        """As many watch events as tell their place for sure."""
        watched = self.watched()
        if not self.came_in_sync:
            paths = frozenset(event.path for event in watched)
            return Run(watched[:_FIT], None, paths, self._first_in_sight(ledger))
        return Run(watched[:_FIT], self._until(watched), None, self._first_in_sight(ledger))

    def _until(self, watched: list[Published]) -> float | None:
        if len(watched) > _FIT:
            return None
        until: float | None = self.ended_by.gap.get("from_zxid") if self.ended_by else math.inf
        return until

    def _first_in_sight(self, ledger: Ledger) -> int:
        """What a scan infers happened before the watch was set: else an event had told it."""
        inferred = [e for e in self.events if e.op in CHANGE_OPS and e.origin != "watch"]
        found = (ledger.find_index(event) for event in inferred if "czxid" in event.stat)
        latest = max((index for index in found if index is not None), default=-1)
        return max(latest + 1, max(ledger.told, default=-1) + 1, self._first_unread(ledger))

    def _first_unread(self, ledger: Ledger) -> int:
        """What a read shows before any event came had happened before the watch was set."""
        newest = 0
        for event in self.events:
            if event.op in CHANGE_OPS and event.origin == "watch":
                break
            newest = max(newest, *(event.stat.get(n, 0) for n in ("czxid", "mzxid", "pzxid")))
        zxids = [change.zxid for change in ledger.changes]
        return bisect_right(zxids, newest)


def split_connections(events: list[Published]) -> Iterator[Connection]:
    """Cut a log at its gaps; what stands before the first one is a connection too."""
    start = 0
    for number, event in enumerate(events):
        if event.opens_gap:
            yield Connection(events[start:number], event)
            start = number + 1
    yield Connection(events[start:], None)
