"""The heart of the watcher, without sockets or clocks: messages in, requests and batches out.

Every (re)connect: sync -> AddWatch -> scan -> diff against the model. One outstanding read per
path, a bounded number in flight, live reads before the scan's. Only this touches the model.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import partial

import msgspec

from watcher.drafts import Draft, publish_stat
from watcher.explain import Explanation, difference, explain
from watcher.messages import (
    CHANGED,
    CREATED,
    DELETED,
    NO_NODE,
    OK,
    Connected,
    Disconnected,
    Message,
    Reply,
    Request,
    WatchEvent,
    ZnodeStat,
)
from watcher.release import Release, Slot
from watcher.scan import Purpose, Scan
from zklake.errors import ZooKeeperError
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


class Chronicle:
    """Follows one tree over one connection at a time, by a persistent recursive watch."""

    recursive = True
    # Lives that a scan counts though no gap lies before it.
    lives_reason: GapReason = "event_lost"
    # How a change was known that no event told, though no gap lies before it.
    lost_origin: Origin = "resync"

    def __init__(self, release: Release, *, reads_in_flight: int = 1000) -> None:
        self.release = release
        self.requests: list[Request] = []
        self.connected = self.in_sync = False
        self.scan: Scan | None = None
        self.in_flight = 0
        self.gaps: Counter[GapReason] = Counter()
        self.audits = 0
        self.audit_differences = 0
        # Reads that an audit may still send before the next tick.
        self.audit_allowance = 0
        self.limit = reads_in_flight
        # The gap that is open: what began it, and the last moment at which everything was told.
        self.gap: Gap | None = None
        self._reading: dict[str, Reading] = {}
        self._wanted: deque[str] = deque()
        self._frame_wanted = False

    def begin(self, reason: GapReason, at_ms: int) -> None:
        """Declare what nobody saw before this watcher started."""
        self._declare_gap(reason, at_ms)
        self.release.run()

    def handle(self, message: Message, at_ms: int) -> None:
        """Take one message, in the order of the connection."""
        if isinstance(message, WatchEvent):
            self.zxid = max(self.zxid, message.zxid)
            self._on_event(message, at_ms)
        elif isinstance(message, Reply):
            self.zxid = max(self.zxid, message.zxid)
            self._on_reply(message, at_ms)
        elif isinstance(message, Connected):
            self._on_connected(at_ms)
        elif isinstance(message, Disconnected):
            self._on_disconnected(message.reason, at_ms)
        else:
            self.release.append(Slot(at_ms, [Draft("heartbeat", "/", zxid=self.zxid or None)]))
        self._advance(at_ms)

    def succeed(self, other: Chronicle) -> None:
        """Go on where another kind of chronicle stopped: the server's version has changed."""
        self.gaps, self.gap, self.zxid = other.gaps, other.gap, other.zxid
        self.audits, self.audit_differences = other.audits, other.audit_differences

    def want_frame(self) -> None:
        """Publish a base frame as soon as the tree is in sync."""
        self._frame_wanted = True

    def want_audit(self) -> None:
        """Start a slow re-read of the tree, unless another scan is under way."""
        if self.in_sync and self.scan is None:
            self.scan = Scan("audit", str(self.release.next_seq), base_is_model=True)

    @property
    def zxid(self) -> int:
        """The highest zxid seen."""
        return self.release.zxid

    @zxid.setter
    def zxid(self, zxid: int) -> None:
        self.release.zxid = zxid

    @property
    def is_at_rest(self) -> bool:
        """Nothing is asked for and nothing waits."""
        return self.scan is None and not self._reading and not self._frame_wanted

    # The connection.

    def _on_connected(self, at_ms: int) -> None:
        self.connected = True
        # Replies are FIFO: the scan's reads may follow at once, they are answered after the watch.
        self.requests.append(Request("sync", "/"))
        if self.recursive:
            self.requests.append(Request("add_watch", "/"))
        self._start_scan("resync", self.gap.id if self.gap else "", at_ms)

    def _on_disconnected(self, reason: GapReason, at_ms: int) -> None:
        """What was seen is told as far as it is known; the rest lies in the gap."""
        for path in list(self._reading):
            # One at a time: what still waits here tells of itself, and is not buried with a parent.
            pending = self._reading.pop(path)
            if pending.trusted and pending.events:
                self._resolve(path, pending, None, at_ms)
            else:
                # No read bridged the gap before these events: they are part of it, and the next
                # scan tells what came of them.
                for slot in pending.slots:
                    slot.drafts = []
        self.release.run()
        self.release.census.forget()
        self.requests.clear()
        self._wanted.clear()
        self.in_flight = 0
        self.scan = None
        self.connected = self.in_sync = False
        slot = self._declare_gap(reason, at_ms)
        if reason == "history_reset":
            self.zxid = slot.zxid = 0
            self.release.lose_model()

    def _declare_gap(self, reason: GapReason, at_ms: int) -> Slot:
        # A connection that breaks before its scan is done prolongs the gap that is open: same id,
        # same beginning.
        if self.gap is None:
            self.gap = Gap(
                id=str(self.release.next_seq),
                reason=reason,
                from_ms=self.release.meta.observed_at_ms or None,
                from_zxid=self.zxid or None,
            )
        gap = msgspec.structs.replace(self.gap, reason=reason, coalescing=not self.recursive)
        self.gaps[reason] += 1
        return self.release.append(Slot(at_ms, [Draft("gap", "/", gap=gap)]))

    # Sending.

    def _advance(self, at_ms: int) -> None:
        """Send what may be sent, finish what is finished, release what is known."""
        if self._frame_wanted and self.in_sync and self.scan is None:
            self._frame_wanted = False
            self._start_scan("frame", str(self.release.next_seq), at_ms)
        while self._wanted and self.in_flight < self.limit:
            self._read(self._wanted.popleft())
        if self.scan is not None:
            self._walk(self.scan)
            if self.scan.is_done:
                self._finish(self.scan, at_ms)
        self.release.run()

    def _walk(self, scan: Scan) -> None:
        """Read on, as far as the number in flight (and an audit's pace) allow."""
        while scan.todo and self.in_flight < self.limit:
            if scan.purpose == "audit" and self.audit_allowance <= 0:
                return
            path = scan.todo.popleft()
            if path in scan.settled:
                continue
            self._mark(scan, path)
            reading = self._reading.get(path)
            if reading is not None and reading.of_scan:
                continue
            scan.outstanding += 1
            self.audit_allowance -= 1
            if reading is not None:
                reading.of_scan = True
            else:
                self._reading[path] = Reading(scan.trusts_model, of_scan=True)
                self._read(path)

    def _read(self, path: str) -> None:
        self.in_flight += 1
        self.requests.append(Request("get", path, not self.recursive))

    def _list(self, path: str) -> None:
        self.in_flight += 1
        self.requests.append(Request("children", path, not self.recursive))

    # Events and replies.

    def _on_event(self, event: WatchEvent, at_ms: int) -> None:
        reading = self._reading.get(event.path)
        if reading is None:
            reading = self._meet(event)
            if event.type != DELETED:
                self._reading[event.path] = reading
                self._wanted.append(event.path)
                if reading.of_scan and self.scan is not None:
                    self.scan.outstanding += 1
        if event.type == CREATED and self.scan is not None:
            # Its parent may have been listed while it was not there.
            self._mark(self.scan, event.path)
        reading.events.append(event)
        reading.slots.append(self.release.append(Slot(at_ms)))
        if event.path not in self._reading:
            # A delete needs no read: it is told at once, in its place.
            self._resolve(event.path, reading, None, at_ms)

    def _meet(self, event: WatchEvent) -> Reading:
        """The first event of a path that is not being read."""
        scan = self.scan
        if scan is None:
            return Reading(trusted=True, of_scan=False)
        trusted = scan.trusts_model or event.path in scan.settled
        if not scan.trusts_model:
            self._mark(scan, event.path)
        return Reading(trusted, of_scan=not trusted)

    def _mark(self, scan: Scan, path: str) -> None:
        """Settled under its own name, and under the one the model knows it by."""
        scan.settled.add(path)
        sealed = self.release.sealed_path(path)
        if sealed is not path:
            scan.settled.add(sealed)

    def _on_reply(self, reply: Reply, at_ms: int) -> None:
        if reply.op == "get":
            self.in_flight -= 1
            self._on_value(reply, self._reading.pop(reply.path), at_ms)
        elif reply.op == "children":
            self.in_flight -= 1
            self._on_children(reply, at_ms)
        elif reply.op == "add_watch" and reply.error != OK:
            raise ZooKeeperError(
                f"ZooKeeper refused the recursive watch on {reply.path} (error {reply.error}); "
                "set zookeeper.force_one_shot to follow the tree with one-shot watches"
            )

    def _on_value(self, reply: Reply, reading: Reading, at_ms: int) -> None:
        scan = self.scan
        if scan is not None and reading.of_scan:
            scan.outstanding -= 1
            if reply.stat is not None:
                scan.znodes += 1
                self._descend(scan, reply.path, reply.stat)
            elif reply.error != NO_NODE:
                # Nobody lists its children to us, though we may read them: those we know of.
                scan.todo.extend(scan.below(reply.path, self.release.known_paths))
        self._resolve(reply.path, reading, reply, at_ms)

    def _descend(self, scan: Scan, path: str, stat: ZnodeStat) -> None:
        if stat.num_children > 0:
            scan.outstanding += 1
            self._list(path)

    def _on_children(self, reply: Reply, at_ms: int) -> None:
        if self.scan is not None:
            self.scan.outstanding -= 1
            self.scan.add_children(reply.path, reply.children or ())

    # Telling.

    def _resolve(self, path: str, reading: Reading, reply: Reply | None, at_ms: int) -> None:
        """Fill the slots of every event that this read answers; then what the read adds."""
        scan = self.scan if reading.of_scan else None
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
            slot.drafts = orphans + told.before + drafts if index == 0 else drafts
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
        below = scan.below(path, self.release.known_paths)
        silent = [p for p in below if self._is_silent(scan, p, is_born)]
        # Found to be another life, its birth unseen: a child may be the new one's, told before its
        # parent was met. The scan will say.
        is_in_sight = any(event.type != CHANGED for event in reading.events)
        born = 0 if is_in_sight or told.row is None else told.row.czxid
        gone = [p for p in silent if not born or self._is_older(p, born)]
        return self._tell_gone(gone, self._origin(self.scan))

    def _is_silent(self, scan: Scan, path: str, parent_is_born: bool) -> bool:
        """No event and no read of its own tells how the known life of this path ended."""
        reading = self._reading.get(path)
        if reading is None or not reading.events:
            return path not in scan.settled
        return parent_is_born and not reading.trusted

    def _is_older(self, path: str, zxid: int) -> bool:
        row = self.release.row(path)
        return row is not None and 0 < row.czxid < zxid

    def _tell_gone(self, paths: list[str], origin: Origin) -> list[Draft]:
        """Deletes that nobody told, children first."""
        drafts: list[Draft] = []
        for path in sorted(paths, reverse=True):
            row = self.release.row(path)
            gone = difference(path, row, Reply("get", path, NO_NODE, self.zxid), origin)
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

    # The end of a scan.

    def _start_scan(self, purpose: Purpose, frame_id: str, at_ms: int) -> None:
        self.scan = scan = Scan(purpose, frame_id, base_is_model=self.release.meta.complete)
        if scan.publishes_all:
            begin = Draft("frame_begin", "/", frame=Frame(id=frame_id))
            self.release.append(Slot(at_ms, [begin]))

    def _finish(self, scan: Scan, at_ms: int) -> None:
        """Whatever the model knows and the scan did not meet is gone; children go first."""
        self.scan = None
        # A path whose events still wait for their read is told by that read.
        met = scan.settled | {self.release.sealed_path(path) for path in self._reading}
        gone = [path for path in self.release.known_paths() if path not in met]
        drafts = self._tell_gone(gone, scan.origin)
        if scan.purpose == "audit":
            self.audits += 1
            self.audit_differences += scan.differences + len(drafts)
        self.release.append(Slot(at_ms, drafts, partial(self._conclude, scan)))

    def _conclude(self, scan: Scan, at_ms: int) -> None:
        """All the scan saw is in the log: say what it could not see, and that it is complete."""
        reason = self.lives_reason if scan.trusts_model else "disconnected"
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
