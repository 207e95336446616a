"""From what was read to what is said: fills the slots of events, and ends a scan. No I/O.

The chronicle decides what to read; this decides what that tells, in which order, about which path.
"""

from __future__ import annotations

from functools import partial

from watcher.drafts import Draft, publish_stat
from watcher.explain import Explanation, difference, explain
from watcher.long_paths import is_hashed
from watcher.messages import CHANGED, CREATED, NO_NODE, Reply, WatchEvent, ZnodeStat
from watcher.release import Release, Slot
from watcher.scan import Scan
from zklake.events.envelope import Frame, Gap, GapReason, Origin


class Reading:
    """A read under way, and the watch events that wait for it."""

    __slots__ = ("events", "of_scan", "slots", "trusted")

    def __init__(self, trusted: bool, of_scan: bool) -> None:
        self.events: list[WatchEvent] = []
        self.slots: list[Slot] = []
        # False when a gap may lie between the model and what is about to be read.
        self.trusted = trusted
        self.of_scan = of_scan


class Teller:
    """Knows the model, the scan under way and the reads that events wait for."""

    recursive = True
    # Lives that a scan counts though no gap lies before it.
    lives_reason: GapReason = "event_lost"
    # How a change was known that no event told, though no gap lies before it.
    lost_origin: Origin = "resync"

    def __init__(self, release: Release) -> None:
        self.release = release
        self.scan: Scan | None = None
        self.in_sync = False
        self.audits = 0
        self.audit_differences = 0
        # The gap that is open: what began it, and the last moment at which everything was told.
        self.gap: Gap | None = None
        self._reading: dict[str, Reading] = {}
        # Scans that are done, and whose end waits for its place in the log.
        self._concluding = 0

    def _resolve(self, path: str, reading: Reading, reply: Reply | None, at_ms: int) -> None:
        """Fill the slots of every event that this read answers; then what the read adds."""
        scan = self.scan if reading.of_scan else None
        if scan is not None and not reading.events and self._see(scan, reply, at_ms):
            return
        told = explain(
            path,
            self.release.row(path),
            reading.events,
            reply,
            trusted=reading.trusted,
            origin=self._origin(scan),
            lost_origin=self.lost_origin,
        )
        orphans = self._bury_children(path, reading, told)
        for index, (slot, drafts) in enumerate(zip(reading.slots, told.told, strict=True)):
            self.release.fill(slot, orphans + told.before + drafts if index == 0 else drafts)
        after = told.after
        if scan is not None:
            scan.differences += len(after)
            after = after or _frame_read(scan, told, path, reply)
        drafts_in_all = len(told.before) + sum(map(len, told.told)) + len(after)
        self.release.expect(path, told.row, drafts_in_all)
        if not reading.slots:
            after = orphans + after
        if after or scan is not None:
            self.release.append(Slot(at_ms, after, self._tally(path, scan, reply)))

    def _see(self, scan: Scan, reply: Reply | None, at_ms: int) -> bool:
        """A first scan meets a znode while nothing waits: there is no story to tell."""
        # One-shot watches: children are counted where they are listed, not here.
        if not self.recursive or scan.origin != "scan" or reply is None or reply.stat is None:
            return False
        return self.release.see(reply.path, reply.stat, reply.data, at_ms)

    def _bury_children(self, path: str, reading: Reading, told: Explanation) -> list[Draft]:
        """A znode that ended took its children with it: those no event told of go first."""
        drafts = [*told.before, *(draft for each in told.told for draft in each), *told.after]
        if all(draft.op not in ("create", "delete") for draft in drafts):
            return []
        is_resync = self.scan is not None and not self.scan.trusts_model
        if self.recursive and not is_resync and reading.events:
            # In sight: each child's own events have told its end.
            return []
        if not (self.recursive and is_resync) and not self.release.has_children(path):
            # Outside a resync the model knows no child without its parent.
            return []
        scan = self.scan or Scan("audit", "", base_is_model=True)
        # After a birth in sight all its children's events follow: what was known of them is over.
        is_born = bool(reading.events) and reading.events[0].type == CREATED
        below = scan.below(self.release.sealed_path(path), self.release.known_paths)
        silent = [p for p in below if self._is_silent(scan, p, is_born)]
        # Found to be another life, its birth unseen: a child may be the new one's, told before its
        # parent was met. The scan will say.
        is_in_sight = any(event.type != CHANGED for event in reading.events)
        born = 0 if is_in_sight or told.row is None else told.row.czxid
        gone = [p for p in silent if not born or self._is_older(p, born)]
        return self._tell_gone(gone, self._origin(self.scan))

    def _is_silent(self, scan: Scan, path: str, parent_is_born: bool) -> bool:
        """No event and no read of its own tells how the known life of this path ended."""
        reading = self._find_reading(path)
        if reading is None or not reading.events:
            return path not in scan.settled
        return parent_is_born and not reading.trusted

    def _find_reading(self, path: str) -> Reading | None:
        """By the model's name of a znode."""
        if not is_hashed(path):
            return self._reading.get(path)
        sealed = self.release.sealed_path
        return next((r for true, r in self._reading.items() if sealed(true) == path), None)

    def _is_older(self, path: str, zxid: int) -> bool:
        row = self.release.row(path)
        return row is not None and 0 < row.czxid < zxid

    def _tell_gone(self, paths: list[str], origin: Origin) -> list[Draft]:
        """Deletes that nobody told, children first."""
        drafts: list[Draft] = []
        for path in sorted(paths, reverse=True):
            row = self.release.row(path)
            gone = difference(path, row, Reply("get", path, NO_NODE, self.release.zxid), origin)
            self.release.expect(path, None, len(gone))
            drafts += gone
        return drafts

    def _origin(self, scan: Scan | None) -> Origin:
        return scan.origin if scan is not None else "resync"

    def _tally(self, path: str, scan: Scan | None, reply: Reply | None) -> partial[None] | None:
        """At this place in the order, a parent's cversion counts all that came before it."""
        if scan is None or reply is None or reply.stat is None:
            return None
        stat = reply.stat
        if scan.base_is_model:
            return partial(self._owe, path, stat)
        return partial(self._start_counting, path, stat)

    def _owe(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        self.release.census.owe(self.release.sealed_path(path), stat)

    def _start_counting(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        self.release.census.start(self.release.sealed_path(path), stat.cversion, stat.num_children)

    def _finish(self, scan: Scan, at_ms: int) -> None:
        """Whatever the model knows and the scan did not meet is gone; children go first."""
        self.scan = None
        # A path whose events still wait for their read is told by that read.
        waiting = {self.release.sealed_path(path) for path in self._reading}
        known = self.release.known_paths()
        gone = [path for path in known if path not in scan.settled and path not in waiting]
        drafts = self._tell_gone(gone, scan.origin)
        if scan.purpose == "audit":
            self.audits += 1
            self.audit_differences += scan.differences + len(drafts)
        self._concluding += 1
        self.release.append(Slot(at_ms, drafts, partial(self._conclude, scan)))

    def _conclude(self, scan: Scan, at_ms: int) -> None:
        """All the scan saw is in the log: say what it could not see, and that it is complete."""
        self._concluding -= 1
        reason = self.gap.reason if self.gap is not None else self.lives_reason
        for path, lives in self.release.census.settle():
            gap = Gap(id=scan.frame_id, reason=reason, lives=lives)
            self.release.emit(Draft("gap", path, gap=gap), at_ms)
        if scan.purpose == "audit":
            return
        frame = Frame(
            id=scan.frame_id,
            base="model" if scan.base_is_model else "none",
            znodes=scan.znodes,
            unreadable=len(self.release.unreadable),
        )
        self.release.emit(Draft("in_sync", "/", frame=frame), at_ms)
        if scan.purpose == "resync":
            self.in_sync, self.gap = True, None


def _frame_read(scan: Scan, told: Explanation, path: str, reply: Reply | None) -> list[Draft]:
    """In a frame every znode is said, also when nothing differs."""
    if not scan.publishes_all or reply is None or reply.stat is None:
        return []
    if told.told and told.told[-1][-1].fidelity == "exact":
        return []
    stat = publish_stat(reply.stat)
    return [
        Draft(
            "read", path, "scan", "exact", stat, reply.stat.mzxid, None, None, reply.data, told.row
        )
    ]
