"""Following a tree by one-shot watches: servers before 3.6 know no others.

A watch fires once; whatever happens until the next read with a watch becomes one change. The same
model and the same counters say how much was passed over: `missed` for the values of a znode, `gap`
events (reason coalesced) for lives under one parent. Every gap is marked `coalescing`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from watcher.census import UNCOUNTED
from watcher.drafts import Draft
from watcher.event_writer import EventWriter
from watcher.long_paths import hides_depth
from watcher.messages import CHILD, DELETED, Reply, WatchEvent, ZnodeStat
from watcher.reader import Reader
from watcher.release import Slot
from watcher.scan import Scan
from watcher.tree import parent_of
from watcher.watch_state import Reading, WatchState
from zklake.events.envelope import Gap


class Listing:
    """A parent just listed: its count is settled once its new children are read."""

    __slots__ = ("stat", "unread")

    def __init__(self, stat: ZnodeStat, unread: set[str]) -> None:
        self.stat = stat
        self.unread = unread


class OneShotWatch:
    """A data watch and a child watch on every znode."""

    # Each of its reads would arm one more watch.
    allows_audits = False

    def __init__(self, state: WatchState, reader: Reader, writer: EventWriter) -> None:
        self._state, self._release = state, state.release
        self._reader, self._writer = reader, writer
        # Listings under way, and how many of them a scan waits for.
        self._being_listed: Counter[str] = Counter()
        self._listed_for_scan: Counter[str] = Counter()
        self._listings: dict[str, Listing] = {}

    def arm(self) -> None:
        """Each read arms a watch of its own."""

    def forget(self) -> None:
        """No listing will be answered."""
        self._being_listed.clear()
        self._listed_for_scan.clear()
        self._listings.clear()

    def apply_event(self, event: WatchEvent, at_ms: int) -> None:
        """It says that something changed, not what: only of a delete there is nothing to read."""
        if event.type == CHILD:
            if not self._being_listed[event.path]:
                self._look(event.path)
        elif event.type != DELETED:
            self._want(event.path)
        elif event.path in self._state.readings or self._release.row(event.path) is not None:
            self._reader.apply_event(event, at_ms)

    def _look(self, path: str) -> None:
        # A scan waits for it: else a child that was gone before it could be read would be counted
        # half by the scan and half by the look.
        if self._state.scan is not None:
            self._state.scan.outstanding += 1
            self._listed_for_scan[path] += 1
        self._being_listed[path] += 1
        self._reader.list_children(path)

    def _want(self, path: str) -> None:
        if path not in self._state.readings:
            reading = Reading(trusted=False, of_scan=self._state.scan is not None)
            self._reader.want(path, reading)

    def _descend(self, scan: Scan, path: str, stat: ZnodeStat) -> None:
        # Childless znodes are listed too: that arms the watch for their first child.
        self._look(path)

    def apply_value(self, reply: Reply, reading: Reading, at_ms: int) -> None:
        """Of a znode that was not known, the children are asked for, too."""
        before = self._release.row(reply.path)
        self._reader.apply_value(reply, reading, at_ms, self._descend)
        is_new = before is None or reply.stat is None or before.czxid != reply.stat.czxid
        if is_new and not reading.of_scan and reply.stat is not None:
            self._look(reply.path)
        self._check_off(reply.path, at_ms)

    def apply_children(self, reply: Reply, at_ms: int) -> None:
        """New children are read; then the parent's count shows how many lives nobody saw."""
        self._being_listed -= Counter((reply.path,))
        if self._listed_for_scan[reply.path] and self._state.scan is not None:
            self._listed_for_scan -= Counter((reply.path,))
            self._state.scan.outstanding -= 1
        if reply.stat is None:
            return
        prefix = "/" if reply.path == "/" else reply.path + "/"
        children = [prefix + name for name in reply.children or ()]
        if self._state.scan is not None:
            self._leave_to_scan(self._state.scan, reply, children, at_ms)
            return
        for child in children:
            if self._release.row(child) is None:
                self._want(child)
        unread = {path for path in self._state.readings if parent_of(path) == reply.path}
        self._listings[reply.path] = Listing(reply.stat, unread)
        self._settle(reply.path, at_ms)

    def _leave_to_scan(self, scan: Scan, reply: Reply, children: list[str], at_ms: int) -> None:
        for child in children:
            if child not in scan.settled:
                scan.todo.append(child)
            elif self._release.row(child) is None:
                # Met by this scan, gone, and there again.
                self._want(child)
        self._writer.settle_listing(scan, reply, at_ms)

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
            self._release.append(Slot(at_ms, [], settle))

    def _declare_coalesced(self, path: str, stat: ZnodeStat, at_ms: int) -> None:
        """Lives between two looks at a parent: their number is all that can be known."""
        path = self._release.sealed_path(path)
        known = self._release.tree.counted(path)
        if known is None or known.row.czxid != stat.czxid or hides_depth(path):
            # Another life than the one that was listed: it has a listing of its own.
            return
        if known.cversion == UNCOUNTED:
            self._release.census.start(path, stat.cversion, known.num_children)
            return
        # The odd one is a child that was gone again before it could be read: the next listing
        # counts its other half.
        lives = (stat.cversion - known.cversion) // 2
        if lives <= 0:
            return
        self._release.census.start(path, known.cversion + 2 * lives, known.num_children)
        gap = Gap(str(self._release.next_seq), "coalesced", lives=lives, coalescing=True)
        self._release.emit(Draft("gap", path, gap=gap), at_ms)
