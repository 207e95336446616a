"""The heart of the watcher, without sockets or clocks: messages in, requests and batches out.

Every (re)connect: sync -> AddWatch -> scan -> diff against the model. One outstanding read per
path, a bounded number in flight, live reads before the scan's. Only this touches the model.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import partial

import msgspec

from watcher.cluster_id import CLUSTER_ID, check_cluster_id
from watcher.drafts import Draft, draft_sample
from watcher.long_paths import is_hashed
from watcher.messages import (
    CREATED,
    DELETED,
    NO_NODE,
    OK,
    Connected,
    Disconnected,
    Message,
    Reply,
    Request,
    Sampled,
    WatchEvent,
    ZnodeStat,
)
from watcher.release import Release, Slot
from watcher.scan import LIGHT_BYTES, Purpose, Scan
from watcher.teller import Reading, Teller
from zklake.errors import ZooKeeperError
from zklake.events.envelope import SESSION_RUN_MS, Frame, Gap, GapReason

# A storm of deletes does not keep samples back for longer.
LONGEST_RUN_MS = 5000


class Chronicle(Teller):
    """Follows one tree over one connection at a time, by a persistent recursive watch."""

    def __init__(
        self, release: Release, *, reads_in_flight: int = 1000, buffer_bytes: int = 64 << 20
    ) -> None:
        super().__init__(release)
        self.requests: list[Request] = []
        self.connected = False
        self.in_flight = 0
        self.gaps: Counter[GapReason] = Counter()
        # Reads that an audit may still send before the next tick.
        self.audit_allowance = 0
        self.limit = reads_in_flight
        # A scan can wait for Kafka, live events cannot: half of the buffer is theirs.
        self._scan_bytes = buffer_bytes // 2
        # The last scan ended because the buffer was full: the next one must not.
        self._is_careful = False
        self._wanted: deque[str] = deque()
        self._frame_wanted = False
        # The cluster that the log is of, until the tree was seen to be of the same one.
        self.expected_cluster = ""
        # Samples that wait for the end of a run of deletes, each with the time since when.
        self._sampled: deque[tuple[Sampled, int]] = deque()
        # When the last watch event came, if it was a delete.
        self._deleted_at_ms = 0

    def begin(self, reason: GapReason, at_ms: int) -> None:
        """Declare what nobody saw before this watcher started."""
        self._declare_gap(reason, at_ms)
        self.release.run()

    def handle(self, message: Message, at_ms: int) -> None:
        """Take one message, in the order of the connection."""
        if isinstance(message, WatchEvent):
            self._note(message.zxid)
            self._deleted_at_ms = at_ms if message.type == DELETED else 0
            self._on_event(message, at_ms)
        elif isinstance(message, Reply):
            self._note(message.zxid)
            self._on_reply(message, at_ms)
        elif isinstance(message, Connected):
            self._on_connected(at_ms)
        elif isinstance(message, Disconnected):
            self._on_disconnected(message.reason, at_ms)
            if message.reason == "restart":
                # Told to stop: the gap is the last word, by which a standby knows that we left.
                self._sampled.clear()
        elif isinstance(message, Sampled):
            # Nothing else moves on by it: what is read and when does not depend on samples.
            self._sampled.append((message, at_ms))
            self._tell_samples(at_ms)
            self.release.run()
            return
        else:
            self.release.append(Slot(at_ms, [Draft("heartbeat", "/", zxid=self.zxid or None)]))
        self._advance(at_ms)

    def go_on(self, at_ms: int) -> None:
        """Kafka has taken something: a scan that waited for it reads on."""
        if self.scan is not None:
            self._advance(at_ms)

    def succeed(self, other: Chronicle) -> None:
        """Go on where another kind of chronicle stopped: the server's version has changed."""
        self.gaps, self.gap, self.zxid = other.gaps, other.gap, other.zxid
        self.audits, self.audit_differences = other.audits, other.audit_differences
        self._sampled = other._sampled
        self.expected_cluster = other.expected_cluster

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

    def _note(self, zxid: int) -> None:
        self.release.zxid = max(self.release.zxid, zxid)

    @property
    def is_scanned(self) -> bool:
        """Every scan that was wanted is told to its end."""
        return self.scan is None and not self._frame_wanted and not self._concluding

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
        self._is_careful |= self.scan is not None and reason == "backpressure"
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
        if self._sampled:
            self._tell_samples(at_ms)
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

    def _tell_samples(self, at_ms: int) -> None:
        """Not within a run of deletes: unbroken, it is the end of one session."""
        # The clock may step back: then nothing waits.
        in_run = 0 <= at_ms - self._deleted_at_ms < SESSION_RUN_MS
        while self._sampled:
            message, since_ms = self._sampled[0]
            if in_run and 0 <= at_ms - since_ms < LONGEST_RUN_MS:
                return
            self._sampled.popleft()
            drafts = [draft_sample(sample) for sample in message.samples]
            self.release.append(Slot(at_ms, drafts, partial(_call, message.on_told)))

    def _walk(self, scan: Scan) -> None:
        """Read on, as far as the number in flight, the buffer and an audit's pace allow."""
        room = self._scan_bytes - self.release.bytes_waiting - self.release.held_bytes
        while scan.todo and self.in_flight < self.limit and self.in_flight * scan.weight < room:
            # A frame that is wanted waits for the audit: then it hurries.
            if scan.purpose == "audit" and self.audit_allowance <= 0 and not self._frame_wanted:
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
        reading.slots.append(self.release.append(Slot(at_ms), event.path))
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
        if self.expected_cluster and reply.path == CLUSTER_ID:
            check_cluster_id(self.expected_cluster, reply)
            self.expected_cluster = ""
        scan = self.scan
        if scan is not None and reading.of_scan:
            scan.outstanding -= 1
            if reply.stat is not None:
                scan.znodes += 1
                size = reply.stat.data_length
                if size > LIGHT_BYTES or scan.weight > LIGHT_BYTES:
                    scan.weigh(size + LIGHT_BYTES)
                self._descend(scan, reply.path, reply.stat)
            elif reply.error != NO_NODE:
                # Nobody lists its children to us, though we may read them: those we know of.
                self._ask_for_known(scan, reply.path)
        self._resolve(reply.path, reading, reply, at_ms)

    def _ask_for_known(self, scan: Scan, path: str) -> None:
        for known in scan.below(self.release.sealed_path(path), self.release.known_paths):
            if is_hashed(known):
                # Its true name is not known: nothing can be asked, and nothing is claimed.
                scan.settled.add(known)
            else:
                scan.todo.append(known)

    def _descend(self, scan: Scan, path: str, stat: ZnodeStat) -> None:
        if stat.num_children > 0:
            scan.outstanding += 1
            self._list(path)

    def _on_children(self, reply: Reply, at_ms: int) -> None:
        if self.scan is not None:
            self.scan.outstanding -= 1
            self.scan.add_children(reply.path, reply.children or ())

    def _start_scan(self, purpose: Purpose, frame_id: str, at_ms: int) -> None:
        is_careful, self._is_careful = self._is_careful, False
        self.scan = scan = Scan(
            purpose, frame_id, base_is_model=self.release.meta.complete, careful=is_careful
        )
        if self.expected_cluster:
            # Answers are FIFO: this one comes before any that could tell of another cluster's tree.
            scan.todo.appendleft(CLUSTER_ID)
        if scan.publishes_all:
            begin = Draft("frame_begin", "/", frame=Frame(id=frame_id))
            self.release.append(Slot(at_ms, [begin]))


def _call(told: Callable[[], None], at_ms: int) -> None:
    told()
