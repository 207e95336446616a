"""The core thread: messages from the inbox into the chronicle, requests and batches out of it.

Between taking a log over and letting go of it. Only this thread touches the chronicle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import structlog

from watcher.chronicle import Chronicle
from watcher.coalescing import CoalescingChronicle
from watcher.messages import Connected, Disconnected, Message, Reply, Tick
from watcher.metrics import Numbers
from watcher.outlet import Outlet
from watcher.read_timer import ReadTimer
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession

log = structlog.get_logger()

ROOT_MISSING = "nothing to watch: ZooKeeper has no such chroot; is zookeeper.connect right?"
_TICK_S = 1.0
_AUDIT_PAUSE_S = 60.0
_DRAIN_POLL_S = 0.05
# Requests go out while more answers wait to be worked off: else ZooKeeper would idle meanwhile.
_SEND_AT = 100


class Limits(NamedTuple):
    """How much is held, and how fast it goes."""

    buffer_bytes: int = 64 << 20
    reads_in_flight: int = 1000
    batch_events: int = 5000
    frame_interval_s: float = 86_400
    audit_reads_per_second: int = 50
    # Treat every server as one before 3.6.
    force_one_shot: bool = False


class Edges(NamedTuple):
    """What the loop stands between."""

    inbox: Inbox
    session: ZooKeeperSession
    outlet: Outlet
    # Hears every message, before the core.
    listen: Callable[[Message], None] | None = None


class Loop:
    """One stretch of watching."""

    def __init__(
        self, numbers: Numbers, chronicle: Chronicle, edges: Edges, limits: Limits
    ) -> None:
        self.chronicle = chronicle
        self._numbers = numbers
        self._inbox, self._session, self._outlet, self._listen = edges
        self._limits = limits
        self.has_let_go = False
        self._reads = ReadTimer(numbers.reads)
        start = self._told_at = time.monotonic()
        self._next_tick = start
        self._next_frame = start + limits.frame_interval_s
        self._next_audit = start + _AUDIT_PAUSE_S
        self._connected_at = start
        self._was_in_sync = False
        # When the oldest event of the batch under way, and of the one being filled, came in.
        self._oldest_sent: float | None = None
        self._oldest: float | None = None
        self._sent_seq = self._committed_seq = chronicle.release.meta.seq
        # The end of the first complete look at the tree.
        self._goal_seq: int | None = None

    def run(self, is_over: Callable[[bool], bool], frame_wish: Callable[[], bool]) -> None:
        """Go on until it is over; raises what the outlet could not publish."""
        while not is_over(self._is_published()):
            pause = max(0.0, self._next_tick - time.monotonic())
            self._take(self._inbox.take(pause))
            if time.monotonic() >= self._next_tick:
                self._tick(frame_wish())
            self._mind_the_buffer()

    def drain(self) -> None:
        """ZooKeeper is let go of: tell what was seen, and publish all there is."""
        # A change of the connection comes alone: the session's end stands behind the last events.
        while not self._inbox.is_empty:
            self._take(self._inbox.take(0))
        while not self._is_drained():
            self._take([])
            time.sleep(_DRAIN_POLL_S)

    def _take(self, messages: list[Message]) -> None:
        if messages:
            at_ms = now_ms()
            self._oldest = self._oldest or time.monotonic()
            self._reads.answer([type(message) for message in messages].count(Reply))
            for message in messages:
                if self._listen is not None:
                    self._listen(message)
                if isinstance(message, Connected):
                    self._meet(message, message.recursive and not self._limits.force_one_shot)
                self.chronicle.handle(message, at_ms)
                if isinstance(message, Disconnected):
                    self._was_in_sync = False
                    self._reads.forget()
                if len(self.chronicle.requests) >= _SEND_AT:
                    self._send()
            self._send()
        self._hand_over()

    def _send(self) -> None:
        requests, self.chronicle.requests = self.chronicle.requests, []
        if requests:
            self._reads.ask(len(requests))
            self._session.send(requests)

    def _meet(self, message: Connected, recursive: bool) -> None:
        """A rolling upgrade may bring a server of another kind."""
        self._connected_at = time.monotonic()
        self._numbers.count("connections")
        if recursive != self.chronicle.recursive:
            kind = Chronicle if recursive else CoalescingChronicle
            successor = kind(
                self.chronicle.release,
                reads_in_flight=self._limits.reads_in_flight,
                buffer_bytes=self._limits.buffer_bytes,
            )
            successor.succeed(self.chronicle)
            self.chronicle = successor
            if not recursive:
                log.warning(
                    "one-shot watches only: changes between two looks become one",
                    server=message.server,
                )

    def _hand_over(self) -> None:
        """Give the outlet its next batch as soon as it has none."""
        if self._outlet.failure is not None:
            raise self._outlet.failure
        if not self._outlet.is_idle:
            return
        if self._oldest_sent is not None:
            self._numbers.latency.observe(time.monotonic() - self._oldest_sent)
            self._committed_seq = self._sent_seq
            self._numbers.gauges["committed_seq"] = self._sent_seq
            self._oldest_sent = None
        batch = self.chronicle.release.take()
        if batch is not None:
            self._oldest_sent, self._oldest = self._oldest or time.monotonic(), None
            self._sent_seq = batch.meta.seq if batch.meta is not None else self._sent_seq
            self._outlet.offer(batch)
            self.chronicle.go_on(now_ms())
            self._send()

    def _tick(self, frame_wanted: bool) -> None:
        now = time.monotonic()
        # Late ticks are not made up for: time passes with any record.
        self._next_tick = max(self._next_tick + _TICK_S, now)
        chronicle = self.chronicle
        if frame_wanted or now >= self._next_frame:
            self._next_frame = now + self._limits.frame_interval_s
            chronicle.want_frame()
        self._pace_audit(now)
        if chronicle.release.bytes_waiting <= self._limits.buffer_bytes:
            chronicle.handle(Tick(), now_ms())
            self._numbers.gauges["last_heartbeat_seconds"] = time.time()
        self._send()
        self._hand_over()
        self._tell()

    def _pace_audit(self, now: float) -> None:
        rate = self._limits.audit_reads_per_second
        self.chronicle.audit_allowance = rate
        if rate and now >= self._next_audit and self.chronicle.scan is None:
            self._next_audit = now + _AUDIT_PAUSE_S
            self.chronicle.want_audit()

    def _mind_the_buffer(self) -> None:
        """Kafka is away too long, or ZooKeeper tells more than it lets us read: let go of it
        cleanly rather than fill its heap or ours."""
        release = self.chronicle.release
        waiting = release.bytes_waiting + release.held_bytes
        if waiting > self._limits.buffer_bytes and not self.has_let_go:
            self.has_let_go = True
            log.warning(
                "buffer full: letting go of ZooKeeper",
                bytes=release.bytes_waiting,
                unread=release.held_bytes,
            )
            self._session.let_go("backpressure")
        elif self.has_let_go and waiting <= self._limits.buffer_bytes // 2:
            self.has_let_go = False
            log.info("buffer drained: back to ZooKeeper")
            self._session.resume()

    def _is_drained(self) -> bool:
        release = self.chronicle.release
        return self._outlet.is_idle and not release.bytes_waiting

    def _is_published(self) -> bool:
        """One complete look at the tree is in the log."""
        chronicle = self.chronicle
        if self._goal_seq is None and chronicle.in_sync and chronicle.is_scanned:
            # Not when nothing waits any more: on a busy tree that may never be.
            self._goal_seq = chronicle.release.meta.seq
        return self._goal_seq is not None and self._committed_seq >= self._goal_seq

    def _tell(self) -> None:
        """Bring the numbers up to date, and say it when the log is complete again."""
        chronicle, release, numbers = self.chronicle, self.chronicle.release, self._numbers
        if chronicle.in_sync and not self._was_in_sync:
            seconds = round(time.monotonic() - self._connected_at, 3)
            numbers.gauges["scan_seconds"] = seconds
            log.info("in sync", znodes=len(release.tree), seconds=seconds)
            if "/" not in release.tree:
                log.warning(ROOT_MISSING)
        self._was_in_sync = chronicle.in_sync
        numbers.state = _describe(chronicle, self.has_let_go)
        numbers.events = release.counts
        numbers.gaps.update(chronicle.gaps)
        now = time.monotonic()
        if chronicle.gap is not None:
            reason = chronicle.gap.reason
            numbers.gap_seconds[reason] = numbers.gap_seconds.get(reason, 0) + now - self._told_at
        self._told_at = now
        numbers.gauges.update(
            zookeeper_connected=float(self._session.connected),
            in_sync=float(chronicle.in_sync),
            zxid=chronicle.zxid,
            server_zxid=self._session.last_zxid_seen,
            told_zxid=release.meta.zxid,
            seq=release.meta.seq,
            znodes=len(release.tree),
            model_bytes=release.tree.size,
            unreadable_znodes=len(release.unreadable),
            inbox_bytes=self._inbox.waiting_bytes,
            buffer_bytes=release.bytes_waiting,
            unread_bytes=release.held_bytes,
            events_waiting=release.waiting,
            reads_in_flight=chronicle.in_flight,
            coalescing=float(not chronicle.recursive),
        )
        numbers.counters.update(
            missed_versions=release.missed_versions,
            unseen_lives=release.unseen_lives,
            audits=chronicle.audits,
            audit_differences=chronicle.audit_differences,
        )


def now_ms() -> int:
    """The wall clock: the only one that reaches an event."""
    return int(time.time() * 1000)


def _describe(chronicle: Chronicle, has_let_go: bool) -> str:
    if chronicle.in_sync:
        return "in sync" if "/" in chronicle.release.tree else ROOT_MISSING
    if has_let_go:
        return "the buffer is full; ZooKeeper was let go of"
    return "scanning the tree" if chronicle.connected else "ZooKeeper does not answer"
