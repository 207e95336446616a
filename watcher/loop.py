"""The core thread: messages from the inbox into the chronicle, requests and batches out of it.

Between taking a log over and letting go of it. Only this thread touches the chronicle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import structlog

from watcher.chronicle import Chronicle
from watcher.messages import Connected, Disconnected, Message, Reply, Tick
from watcher.metrics import Totals, WatcherMetrics
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
        self, metrics: WatcherMetrics, chronicle: Chronicle, edges: Edges, limits: Limits
    ) -> None:
        self.chronicle = chronicle
        self._metrics, self._totals = metrics, Totals()
        self._inbox, self._session, self._outlet, self._listen = edges
        self._limits = limits
        self.has_let_go = False
        self._reads = ReadTimer(metrics.read_seconds)
        start = self._counted_at = time.monotonic()
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
            self._handle(self._inbox.take(pause))
            if time.monotonic() >= self._next_tick:
                self._tick(frame_wish())
            self._mind_the_buffer()

    def drain(self) -> None:
        """ZooKeeper is let go of: write what was seen, and publish all there is."""
        # A change of the connection comes alone: the session's end stands behind the last events.
        while not self._inbox.is_empty:
            self._handle(self._inbox.take(0))
        while not self._is_drained():
            self._handle([])
            time.sleep(_DRAIN_POLL_S)
        # Raises when the last batch has failed: then nothing waits any more, either.
        self._hand_over()

    def _handle(self, messages: list[Message]) -> None:
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
                if self.chronicle.waiting_requests >= _SEND_AT:
                    self._send()
            self._send()
        self._hand_over()

    def _send(self) -> None:
        requests = self.chronicle.take_requests()
        if requests:
            self._reads.ask(len(requests))
            self._session.send(requests)

    def _meet(self, message: Connected, recursive: bool) -> None:
        """A rolling upgrade may bring a server of another kind."""
        self._connected_at = time.monotonic()
        self._metrics.connections.inc()
        if not recursive and self.chronicle.recursive:
            log.warning(
                "one-shot watches only: changes between two looks become one",
                server=message.server,
            )
        self.chronicle.watch_by(recursive=recursive)

    def _hand_over(self) -> None:
        """Give the outlet its next batch as soon as it has none."""
        if self._outlet.failure is not None:
            raise self._outlet.failure
        if not self._outlet.is_idle:
            return
        if self._oldest_sent is not None:
            self._metrics.commit_seconds.observe(time.monotonic() - self._oldest_sent)
            self._committed_seq = self._sent_seq
            self._metrics.committed_seq.set(self._sent_seq)
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
            self._metrics.last_heartbeat_seconds.set_to_current_time()
        self._send()
        self._hand_over()
        self._report()

    def _pace_audit(self, now: float) -> None:
        rate = self._limits.audit_reads_per_second
        self.chronicle.allow_audit_reads(rate)
        if rate and now >= self._next_audit and self.chronicle.state.scan is None:
            self._next_audit = now + _AUDIT_PAUSE_S
            self.chronicle.want_audit()

    def _mind_the_buffer(self) -> None:
        """Kafka is away too long, or ZooKeeper sends more events than it lets us read: let go of it
        cleanly rather than fill its heap or ours."""
        release = self.chronicle.release
        waiting = release.bytes_waiting + release.held_bytes
        if waiting > self._limits.buffer_bytes and not self.has_let_go:
            self.has_let_go = True
            log.warning(
                "buffer full: disconnecting from ZooKeeper",
                bytes=release.bytes_waiting,
                unread=release.held_bytes,
            )
            self._session.let_go("backpressure")
        elif self.has_let_go and waiting <= self._limits.buffer_bytes // 2:
            self.has_let_go = False
            log.info("buffer drained: reconnecting to ZooKeeper")
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

    def _report(self) -> None:
        """Bring the metrics up to date, and log it when the log is complete again."""
        chronicle, tree, metrics = self.chronicle, self.chronicle.release.tree, self._metrics
        if chronicle.in_sync and not self._was_in_sync:
            seconds = round(time.monotonic() - self._connected_at, 3)
            metrics.scan_seconds.set(seconds)
            log.info("in sync", znodes=len(tree), seconds=seconds)
            if "/" not in tree:
                log.warning(ROOT_MISSING)
        self._was_in_sync = chronicle.in_sync
        metrics.state = _describe(chronicle, self.has_let_go)
        self._show_state()
        self._count_totals()

    def _show_state(self) -> None:
        chronicle, release, metrics = self.chronicle, self.chronicle.release, self._metrics
        metrics.zookeeper_connected.set(self._session.connected)
        metrics.in_sync.set(chronicle.in_sync)
        metrics.zxid.set(chronicle.zxid)
        metrics.server_zxid.set(self._session.last_zxid_seen)
        metrics.published_zxid.set(release.meta.zxid)
        metrics.seq.set(release.meta.seq)
        metrics.znodes.set(len(release.tree))
        metrics.model_bytes.set(release.tree.size)
        metrics.unreadable_znodes.set(len(release.unreadable))
        metrics.inbox_bytes.set(self._inbox.waiting_bytes)
        metrics.buffer_bytes.set(release.bytes_waiting)
        metrics.unread_bytes.set(release.held_bytes)
        metrics.events_waiting.set(release.waiting)
        metrics.reads_in_flight.set(chronicle.in_flight)
        metrics.coalescing.set(not chronicle.recursive)

    def _count_totals(self) -> None:
        chronicle, release, metrics = self.chronicle, self.chronicle.release, self._metrics
        for labels, total in release.counts.items():
            self._totals.follow(metrics.events.labels(*labels), total)
        for reason, total in chronicle.gaps.items():
            self._totals.follow(metrics.gaps.labels(reason), total)
        self._totals.follow(metrics.missed_versions, release.missed_versions)
        self._totals.follow(metrics.unseen_lives, release.unseen_lives)
        self._totals.follow(metrics.audits, chronicle.state.audits)
        self._totals.follow(metrics.audit_differences, chronicle.state.audit_differences)
        now = time.monotonic()
        gap = chronicle.state.gap
        if gap is not None:
            metrics.gap_seconds.labels(gap.reason).inc(now - self._counted_at)
        self._counted_at = now


def now_ms() -> int:
    """The wall clock: the only one that reaches an event."""
    return int(time.time() * 1000)


def _describe(chronicle: Chronicle, has_let_go: bool) -> str:
    if chronicle.in_sync:
        return "in sync" if "/" in chronicle.release.tree else ROOT_MISSING
    if has_let_go:
        return "the buffer is full; disconnected from ZooKeeper"
    return "scanning the tree" if chronicle.connected else "ZooKeeper does not answer"
