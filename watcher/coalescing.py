"""The chronicle on servers before 3.6, which know one-shot watches only.

A watch fires once; whatever happens until the next read with a watch becomes one change. The same
model and the same counters say how much was passed over: `missed` for the values of a znode, `gap`
events (reason coalesced) for lives under one parent. Every gap is marked `coalescing`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from watcher.census import UNCOUNTED
from watcher.chronicle import Chronicle
from watcher.drafts import Draft
from watcher.long_paths import hides_depth
from watcher.messages import CHILD, DELETED, Reply, WatchEvent, ZnodeStat
from watcher.release import Release, Slot
from watcher.scan import Scan
from watcher.teller import Reading
from watcher.tree import parent_of
from zklake.events.envelope import Gap, GapReason, Origin


class Listing:
    """A parent just listed: its count is settled once its new children are read."""

    __slots__ = ("stat", "unread")

    def __init__(self, stat: ZnodeStat, unread: set[str]) -> None:
        self.stat = stat
        self.unread = unread


class CoalescingChronicle(Chronicle):
    """Follows one tree by a data watch and a child watch on every znode."""

    recursive = False
    lives_reason: GapReason = "coalesced"
    lost_origin: Origin = "watch"

    def __init__(
        self, release: Release, *, reads_in_flight: int = 1000, buffer_bytes: int = 64 << 20
    ) -> None:
        super().__init__(release, reads_in_flight=reads_in_flight, buffer_bytes=buffer_bytes)
        # Listings under way, and how many of them a scan waits for.
        self._being_listed: Counter[str] = Counter()
        self._listed_for_scan: Counter[str] = Counter()
        self._listings: dict[str, Listing] = {}

    def want_audit(self) -> None:
        """No audit: each of its reads would arm one more watch."""

    def _on_disconnected(self, reason: GapReason, at_ms: int) -> None:
        self._being_listed.clear()
        self._listed_for_scan.clear()
        self._listings.clear()
        super()._on_disconnected(reason, at_ms)

    def _on_event(self, event: WatchEvent, at_ms: int) -> None:
        if event.type == CHILD:
            if not self._being_listed[event.path]:
                self._look(event.path)
        elif event.type != DELETED:
            self._want(event.path)
        elif event.path in self._reading or self.release.row(event.path) is not None:
            super()._on_event(event, at_ms)

    def _look(self, path: str) -> None:
        # A scan waits for it: else a child that was gone before it could be read would be counted
        # half by the scan and half by the look.
        if self.scan is not None:
            self.scan.outstanding += 1
            self._listed_for_scan[path] += 1
        self._list(path)

    def _want(self, path: str) -> None:
        if path not in self._reading:
            self._reading[path] = Reading(trusted=False, of_scan=self.scan is not None)
            self._wanted.append(path)
            if self.scan is not None:
                self.scan.outstanding += 1

    def _list(self, path: str) -> None:
        self._being_listed[path] += 1
        super()._list(path)

    def _descend(self, scan: Scan, path: str, stat: ZnodeStat) -> None:
        # Childless znodes are listed too: that arms the watch for their first child.
        self._look(path)

    def _on_value(self, reply: Reply, reading: Reading, at_ms: int) -> None:
        before = self.release.row(reply.path)
        super()._on_value(reply, reading, at_ms)
        is_new = before is None or reply.stat is None or before.czxid != reply.stat.czxid
        if is_new and not reading.of_scan and reply.stat is not None:
            self._look(reply.path)
        self._check_off(reply.path, at_ms)

    def _on_children(self, reply: Reply, at_ms: int) -> None:
        self._being_listed -= Counter((reply.path,))
        if self._listed_for_scan[reply.path] and self.scan is not None:
            self._listed_for_scan -= Counter((reply.path,))
            self.scan.outstanding -= 1
        if reply.stat is None:
            return
        prefix = "/" if reply.path == "/" else reply.path + "/"
        children = [prefix + name for name in reply.children or ()]
        if self.scan is not None:
            self._leave_to_scan(self.scan, reply, children, at_ms)
            return
        for child in children:
            if self.release.row(child) is None:
                self._want(child)
        unread = {path for path in self._reading if parent_of(path) == reply.path}
        self._listings[reply.path] = Listing(reply.stat, unread)
        self._settle(reply.path, at_ms)

    def _leave_to_scan(self, scan: Scan, reply: Reply, children: list[str], at_ms: int) -> None:
        for child in children:
            if child not in scan.settled:
                scan.todo.append(child)
            elif self.release.row(child) is None:
                # Met by this scan, gone, and there again.
                self._want(child)
        tally = Chronicle._tally(self, reply.path, scan, reply)
        self.release.append(Slot(at_ms, [], tally))

    def _tally(self, path: str, scan: Scan | None, reply: Reply | None) -> partial[None] | None:
        # Children are counted where they are listed: no event tells of a child born since the get.
        return None

    def _origin(self, scan: Scan | None) -> Origin:
        return scan.origin if scan is not None else "watch"

    def _check_off(self, child: str, at_ms: int) -> None:
        parent = parent_of(child)
        listing = self._listings.get(parent) if parent is not None else None
        if parent is not None and listing is not None:
            listing.unread.discard(child)
            self._settle(parent, at_ms)

    def _settle(self, path: str, at_ms: int) -> None:
        listing = self._listings[path]
        if not listing.unread:
            del self._listings[path]
            settle = partial(self._declare_coalesced, path, listing.stat)
            self.release.append(Slot(at_ms, [], settle))

    def _declare_coalesced(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        """Lives between two looks at a parent: their number is all that can be known."""
        path = self.release.sealed_path(path)
        known = self.release.tree.counted(path)
        if known is None or known.row.czxid != stat.czxid or hides_depth(path):
            # Another life than the one that was listed: it has a listing of its own.
            return
        if known.cversion == UNCOUNTED:
            self.release.census.start(path, stat.cversion, known.num_children)
            return
        # The odd one is a child that was gone again before it could be read: the next listing
        # counts its other half.
        lives = (stat.cversion - known.cversion) // 2
        if lives <= 0:
            return
        self.release.census.start(path, known.cversion + 2 * lives, known.num_children)
        gap = Gap(str(self.release.next_seq), "coalesced", lives=lives, coalescing=True)
        self.release.emit(Draft("gap", path, gap=gap), at_ms)
