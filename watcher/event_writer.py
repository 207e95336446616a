"""From what was read to events: fills the slots of watch events, and ends a scan. No I/O.

The reader decides what to read; this decides what that says, in which order, about which path.
"""

from __future__ import annotations

from functools import partial

from watcher.drafts import Draft, publish_stat
from watcher.explain import Explanation, difference, explain
from watcher.long_paths import is_hashed
from watcher.messages import CHANGED, CREATED, NO_NODE, Reply, ZnodeStat
from watcher.release import Slot
from watcher.scan import Scan
from watcher.watch_state import Reading, WatchState
from zklake.events.envelope import Frame, Gap, Origin


class EventWriter:
    """Writes into the release buffer what reads have answered."""

    def __init__(self, state: WatchState) -> None:
        self._state, self._release = state, state.release

    def resolve(self, path: str, reading: Reading, reply: Reply | None, at_ms: int) -> None:
        """Fill the slots of every event that this read answers; then what the read adds."""
        scan = self._state.scan if reading.of_scan else None
        if scan is not None and not reading.events and self._see(scan, reply, at_ms):
            return
        explanation = explain(
            path,
            self._release.row(path),
            reading.events,
            reply,
            trusted=reading.trusted,
            origin=self._origin(scan),
            lost_origin=self._state.mode.lost_origin,
        )
        orphans = self._bury_children(path, reading, explanation)
        for index, (slot, drafts) in enumerate(
            zip(reading.slots, explanation.by_event, strict=True)
        ):
            self._release.fill(
                slot, orphans + explanation.before + drafts if index == 0 else drafts
            )
        after = explanation.after
        if scan is not None:
            scan.differences += len(after)
            after = after or _frame_read(scan, explanation, path, reply)
        drafts_in_all = len(explanation.before) + sum(map(len, explanation.by_event)) + len(after)
        self._release.expect(path, explanation.row, drafts_in_all)
        if not reading.slots:
            after = orphans + after
        if after or scan is not None:
            # One-shot watches: children are counted where they are listed, for no event shows a
            # child born since the get.
            is_counted = self._state.mode.is_recursive
            then = self._count_children(path, scan, reply) if is_counted else None
            self._release.append(Slot(at_ms, after, then))

    def _see(self, scan: Scan, reply: Reply | None, at_ms: int) -> bool:
        """A first scan meets a znode while nothing waits: there is nothing to explain."""
        # One-shot watches: children are counted where they are listed, not here.
        if not self._state.mode.is_recursive or scan.origin != "scan":
            return False
        if reply is None or reply.stat is None:
            return False
        return self._release.see(reply.path, reply.stat, reply.data, at_ms)

    def _bury_children(self, path: str, reading: Reading, explanation: Explanation) -> list[Draft]:
        """A znode that ended took its children with it: those without an event go first."""
        drafts = [
            *explanation.before,
            *(draft for each in explanation.by_event for draft in each),
            *explanation.after,
        ]
        if all(draft.op not in ("create", "delete") for draft in drafts):
            return []
        is_resync = self._state.scan is not None and not self._state.scan.trusts_model
        is_recursive = self._state.mode.is_recursive
        if is_recursive and not is_resync and reading.events:
            # In sight: each child's own events have ended it.
            return []
        if not (is_recursive and is_resync) and not self._release.has_children(path):
            # Outside a resync the model knows no child without its parent.
            return []
        scan = self._state.scan or Scan("audit", "", base_is_model=True)
        # After a birth in sight all its children's events follow: what was known of them is over.
        is_born = bool(reading.events) and reading.events[0].type == CREATED
        below = scan.below(self._release.sealed_path(path), self._release.known_paths)
        silent = [p for p in below if self._is_silent(scan, p, is_born)]
        # Found to be another life, its birth unseen: a child may be the new one's, seen before its
        # parent was met. The scan will say.
        is_in_sight = any(event.type != CHANGED for event in reading.events)
        born = 0 if is_in_sight or explanation.row is None else explanation.row.czxid
        gone = [p for p in silent if not born or self._is_older(p, born)]
        return self._draft_gone(gone, self._origin(self._state.scan))

    def _is_silent(self, scan: Scan, path: str, parent_is_born: bool) -> bool:
        """No event and no read of its own shows how the known life of this path ended."""
        reading = self._find_reading(path)
        if reading is None or not reading.events:
            return path not in scan.settled
        return parent_is_born and not reading.trusted

    def _find_reading(self, path: str) -> Reading | None:
        """By the model's name of a znode."""
        if not is_hashed(path):
            return self._state.readings.get(path)
        sealed = self._release.sealed_path
        return next((r for true, r in self._state.readings.items() if sealed(true) == path), None)

    def _is_older(self, path: str, zxid: int) -> bool:
        row = self._release.row(path)
        return row is not None and 0 < row.czxid < zxid

    def _draft_gone(self, paths: list[str], origin: Origin) -> list[Draft]:
        """Deletes of which no event came, children first."""
        drafts: list[Draft] = []
        for path in sorted(paths, reverse=True):
            row = self._release.row(path)
            gone = difference(path, row, Reply("get", path, NO_NODE, self._release.zxid), origin)
            self._release.expect(path, None, len(gone))
            drafts += gone
        return drafts

    def _origin(self, scan: Scan | None) -> Origin:
        return scan.origin if scan is not None else self._state.mode.lost_origin

    def settle_listing(self, scan: Scan, reply: Reply, at_ms: int) -> None:
        """A parent was listed by a scan with one-shot watches: its children are counted here."""
        self._release.append(Slot(at_ms, [], self._count_children(reply.path, scan, reply)))

    def _count_children(
        self, path: str, scan: Scan | None, reply: Reply | None
    ) -> partial[None] | None:
        """At this place in the order, a parent's cversion counts all that came before it."""
        if scan is None or reply is None or reply.stat is None:
            return None
        count = self._owe if scan.base_is_model else self._start_counting
        return partial(count, path, reply.stat)

    def _owe(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        self._release.census.owe(self._release.sealed_path(path), stat)

    def _start_counting(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        path = self._release.sealed_path(path)
        self._release.census.start(path, stat.cversion, stat.num_children)

    def finish(self, scan: Scan, at_ms: int) -> None:
        """Whatever the model knows and the scan did not meet is gone; children go first."""
        self._state.scan = None
        # A path whose events still wait for their read is written by that read.
        waiting = {self._release.sealed_path(path) for path in self._state.readings}
        known = self._release.known_paths()
        gone = [path for path in known if path not in scan.settled and path not in waiting]
        drafts = self._draft_gone(gone, scan.origin)
        if scan.purpose == "audit":
            self._state.audits += 1
            self._state.audit_differences += scan.differences + len(drafts)
        self._state.concluding += 1
        self._release.append(Slot(at_ms, drafts, partial(self._conclude, scan)))

    def _conclude(self, scan: Scan, at_ms: int) -> None:
        """All the scan saw is in the log: say what it could not see, and that it is complete."""
        state = self._state
        state.concluding -= 1
        reason = state.gap.reason if state.gap is not None else state.mode.lives_reason
        for path, lives in self._release.census.settle():
            gap = Gap(id=scan.frame_id, reason=reason, lives=lives)
            self._release.emit(Draft("gap", path, gap=gap), at_ms)
        if scan.purpose == "audit":
            return
        frame = Frame(
            id=scan.frame_id,
            base="model" if scan.base_is_model else "none",
            znodes=scan.znodes,
            unreadable=len(self._release.unreadable),
        )
        self._release.emit(Draft("in_sync", "/", frame=frame), at_ms)
        if scan.purpose == "resync":
            state.in_sync, state.gap = True, None


def _frame_read(
    scan: Scan, explanation: Explanation, path: str, reply: Reply | None
) -> list[Draft]:
    """In a frame every znode is said, also when nothing differs."""
    if not scan.publishes_all or reply is None or reply.stat is None:
        return []
    if explanation.by_event and explanation.by_event[-1][-1].fidelity == "exact":
        return []
    stat = publish_stat(reply.stat)
    return [
        Draft(
            "read",
            path,
            "scan",
            "exact",
            stat,
            reply.stat.mzxid,
            None,
            None,
            reply.data,
            explanation.row,
        )
    ]
