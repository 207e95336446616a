"""The heart of the watcher, without sockets or clocks: messages in, requests and batches out.

Every (re)connect: sync -> arm the watch -> scan -> diff against the model. It has a watch (what the
server can watch), a reader (what is asked for) and a writer of events; all of them share one state.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from watcher.cluster_id import CLUSTER_ID, check_cluster_id
from watcher.drafts import Draft
from watcher.event_writer import EventWriter
from watcher.messages import (
    OK,
    Connected,
    Disconnected,
    Message,
    Reply,
    Request,
    Sampled,
    WatchEvent,
)
from watcher.one_shot_watch import OneShotWatch
from watcher.reader import Reader
from watcher.recursive_watch import RecursiveWatch, Watch
from watcher.release import Release, Slot
from watcher.sample_queue import SampleQueue
from watcher.scan import Purpose, Scan
from watcher.watch_state import ONE_SHOT, RECURSIVE, WatchState
from zklake.errors import ZooKeeperError
from zklake.events.envelope import Frame, Gap, GapReason


class Chronicle:
    """Follows one tree over one connection at a time."""

    def __init__(
        self,
        release: Release,
        *,
        recursive: bool = True,
        reads_in_flight: int = 1000,
        buffer_bytes: int = 64 << 20,
    ) -> None:
        self.release = release
        self.state = state = WatchState(release, RECURSIVE)
        self.connected = False
        self.gaps: Counter[GapReason] = Counter()
        # The cluster that the log is of, until the tree was seen to be of the same one.
        self.expected_cluster = ""
        self._writer = EventWriter(state)
        # A scan can wait for Kafka, live events cannot: half of the buffer is theirs.
        self._reader = Reader(
            state, self._writer, limit=reads_in_flight, scan_bytes=buffer_bytes // 2
        )
        self._watch: Watch = RecursiveWatch(state, self._reader)
        self._samples = SampleQueue(release)
        # The last scan ended because the buffer was full: the next one must not.
        self._is_careful = False
        self.watch_by(recursive=recursive)

    def watch_by(self, *, recursive: bool) -> None:
        """Choose the watch for the server of the next connection."""
        if recursive != self.recursive:
            self.state.mode = RECURSIVE if recursive else ONE_SHOT
            self._watch = (
                RecursiveWatch(self.state, self._reader)
                if recursive
                else OneShotWatch(self.state, self._reader, self._writer)
            )

    def begin(self, reason: GapReason, at_ms: int) -> None:
        """Declare what nobody saw before this watcher started."""
        self._declare_gap(reason, at_ms)
        self.release.run()

    def handle(self, message: Message, at_ms: int) -> None:
        """Apply one message, in the order of the connection."""
        if isinstance(message, WatchEvent):
            self._note(message.zxid)
            self._samples.note_event(message, at_ms)
            self._watch.apply_event(message, at_ms)
        elif isinstance(message, Reply):
            self._note(message.zxid)
            self._apply_reply(message, at_ms)
        elif isinstance(message, Connected):
            self._connect(at_ms)
        elif isinstance(message, Disconnected):
            self._disconnect(message.reason, at_ms)
            if message.reason == "restart":
                # Told to stop: the gap is the last word, by which a standby knows that we left.
                self._samples.clear()
        elif isinstance(message, Sampled):
            # Nothing else moves on by it: what is read and when does not depend on samples.
            self._samples.add(message, at_ms)
            self._samples.emit_due(at_ms)
            self.release.run()
            return
        else:
            self.release.append(Slot(at_ms, [Draft("heartbeat", "/", zxid=self.zxid or None)]))
        self._advance(at_ms)

    def take_requests(self) -> list[Request]:
        """What is to be sent to ZooKeeper, in this order."""
        requests, self._reader.requests = self._reader.requests, []
        return requests

    def go_on(self, at_ms: int) -> None:
        """Kafka has taken something: a scan that waited for it reads on."""
        if self.state.scan is not None:
            self._advance(at_ms)

    def want_frame(self) -> None:
        """Publish a base frame as soon as the tree is in sync."""
        self.state.is_frame_wanted = True

    def want_audit(self) -> None:
        """Start a slow re-read of the tree, unless another scan is under way."""
        state = self.state
        if self._watch.allows_audits and state.in_sync and state.scan is None:
            state.scan = Scan("audit", str(self.release.next_seq), base_is_model=True)

    def allow_audit_reads(self, number: int) -> None:
        """So many reads an audit may send from now on, until this is called again."""
        self.state.audit_allowance = number

    # How it stands.

    @property
    def recursive(self) -> bool:
        """One watch covers the whole tree."""
        return self.state.mode.is_recursive

    @property
    def in_sync(self) -> bool:
        """The log says all there is."""
        return self.state.in_sync

    @property
    def waiting_requests(self) -> int:
        """Requests that nobody has taken yet."""
        return len(self._reader.requests)

    @property
    def in_flight(self) -> int:
        """Reads that are not answered."""
        return self._reader.in_flight

    @property
    def zxid(self) -> int:
        """The highest zxid seen."""
        return self.release.zxid

    @property
    def is_scanned(self) -> bool:
        """Every scan that was asked for has ended."""
        state = self.state
        return state.scan is None and not state.is_frame_wanted and not state.concluding

    def _note(self, zxid: int) -> None:
        self.release.zxid = max(self.release.zxid, zxid)

    # The connection.

    def _connect(self, at_ms: int) -> None:
        self.connected = True
        # Replies are FIFO: the scan's reads may follow at once, they are answered after the watch.
        self._reader.requests.append(Request("sync", "/"))
        self._watch.arm()
        self._start_scan("resync", self.state.gap.id if self.state.gap else "", at_ms)

    def _disconnect(self, reason: GapReason, at_ms: int) -> None:
        """What was seen is written as far as it is known; the rest lies in the gap."""
        state = self.state
        self._watch.forget()
        for path in list(state.readings):
            # One at a time: what waits here has its own event, and is not buried with a parent.
            pending = state.readings.pop(path)
            if pending.trusted and pending.events:
                self._writer.resolve(path, pending, None, at_ms)
            else:
                # No read bridged the gap before these events: they are part of it, and the next
                # scan shows what came of them.
                for slot in pending.slots:
                    slot.drafts = []
        self.release.run()
        self.release.census.forget()
        self._reader.forget()
        self._is_careful |= state.scan is not None and reason == "backpressure"
        state.scan = None
        self.connected = state.in_sync = False
        slot = self._declare_gap(reason, at_ms)
        if reason == "history_reset":
            self.release.zxid = slot.zxid = 0
            self.release.lose_model()

    def _declare_gap(self, reason: GapReason, at_ms: int) -> Slot:
        # A connection that breaks before its scan is done prolongs the gap that is open: same id,
        # same beginning.
        if self.state.gap is None:
            self.state.gap = Gap(
                id=str(self.release.next_seq),
                reason=reason,
                from_ms=self.release.meta.observed_at_ms or None,
                from_zxid=self.zxid or None,
            )
        gap = msgspec.structs.replace(self.state.gap, reason=reason, coalescing=not self.recursive)
        self.gaps[reason] += 1
        return self.release.append(Slot(at_ms, [Draft("gap", "/", gap=gap)]))

    # What follows from a message.

    def _advance(self, at_ms: int) -> None:
        """Send what may be sent, finish what is finished, release what is known."""
        state = self.state
        self._samples.emit_due(at_ms)
        if state.is_frame_wanted and state.in_sync and state.scan is None:
            state.is_frame_wanted = False
            self._start_scan("frame", str(self.release.next_seq), at_ms)
        self._reader.send_wanted()
        if state.scan is not None:
            self._reader.walk(state.scan)
            if state.scan.is_done:
                self._writer.finish(state.scan, at_ms)
        self.release.run()

    def _apply_reply(self, reply: Reply, at_ms: int) -> None:
        if reply.op == "get":
            self._reader.in_flight -= 1
            reading = self.state.readings.pop(reply.path)
            if self.expected_cluster and reply.path == CLUSTER_ID:
                check_cluster_id(self.expected_cluster, reply)
                self.expected_cluster = ""
            self._watch.apply_value(reply, reading, at_ms)
        elif reply.op == "children":
            self._reader.in_flight -= 1
            self._watch.apply_children(reply, at_ms)
        elif reply.op == "add_watch" and reply.error != OK:
            raise ZooKeeperError(
                f"ZooKeeper refused the recursive watch on {reply.path} (error {reply.error}); "
                "set zookeeper.force_one_shot to follow the tree with one-shot watches"
            )

    def _start_scan(self, purpose: Purpose, frame_id: str, at_ms: int) -> None:
        is_careful, self._is_careful = self._is_careful, False
        self.state.scan = scan = Scan(
            purpose, frame_id, base_is_model=self.release.meta.complete, careful=is_careful
        )
        if self.expected_cluster:
            # Answers are FIFO: this one comes before any of another cluster's tree.
            scan.todo.appendleft(CLUSTER_ID)
        if scan.publishes_all:
            begin = Draft("frame_begin", "/", frame=Frame(id=frame_id))
            self.release.append(Slot(at_ms, [begin]))
