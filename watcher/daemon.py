"""`zklake watch` as a process: joins the ZooKeeper edge, the chronicle and the log.

One thread (this one) touches the chronicle. The connection thread only fills the inbox, the
outlet's thread only empties batches.
"""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable
from threading import Event, Timer
from types import FrameType

import msgspec
import structlog

from watcher.chronicle import Chronicle
from watcher.log.publisher import GaveUp
from watcher.log.resume import Resume
from watcher.loop import Edges, Limits, Loop, now_ms
from watcher.messages import Message
from watcher.metrics import WatcherMetrics
from watcher.outlet import Log, Outlet
from watcher.patience import OnceTimeout
from watcher.release import Release
from watcher.sampling.endpoints import Endpoints
from watcher.sampling.handover import Handover
from watcher.sampling.sampler import Plan, Sampler
from watcher.sealing import Sealer
from watcher.tree import Tree
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.errors import Fenced, LogError, TopicRefused, ZooKeeperError
from zklake.events.envelope import SEQ_PER_SECOND, GapReason, Meta
from zklake.health import serve_health

log = structlog.get_logger()

_RETRY_S = 1.0
# SIGTERM drains and exits within ten seconds; what Kafka has not taken by then is re-inferred.
_DRAIN_S = 6.0


class Daemon:
    """Watches one cluster until told to stop."""

    def __init__(
        self,
        cluster: str,
        open_session: Callable[[Inbox, int], ZooKeeperSession],
        open_log: Callable[[Daemon], Log],
        sealer: Sealer,
        limits: Limits = Limits(),
        *,
        sampling: Plan | None = None,
        http: str | None = None,
        once_patience_s: float | None = None,
        resnapshot: bool = False,
        accept_cluster: bool = False,
    ) -> None:
        """`once_patience_s`: one complete look, giving up after so long without an answer."""
        self.metrics = WatcherMetrics()
        self._is_log_away = False
        self.stop = Event()
        # Set when draining has taken too long: nothing waits for Kafka any more.
        self.give_up = Event()
        self._cluster = cluster
        self._open_session = open_session
        self._open_log = open_log
        self._sealer = sealer
        self._limits = limits
        self._sampling = sampling
        self._http = http
        self._patience_s = once_patience_s
        self._frame_wanted = resnapshot
        self._accept_cluster = accept_cluster

    # What the edges report.

    def note_standby(self) -> None:
        """Another watcher writes the log."""
        self.metrics.state = "standby: another watcher is writing this log"
        self.metrics.is_standby.set(1)
        log.info("standby", cluster=self._cluster)

    def note_log(self, connected: bool, reason: str) -> None:
        """The log's Kafka went or came back; one line per change."""
        self._is_log_away = not connected
        self.metrics.log_connected.set(connected)
        if connected:
            log.info("log connected", cluster=self._cluster)
        else:
            log.warning("log away", cluster=self._cluster, reason=reason)

    def find_obstacle(self) -> str | None:
        """Why we are not ready; None when the log says all there is."""
        if self.metrics.state != "in sync":
            return self.metrics.state
        return "the log's Kafka is away" if self._is_log_away else None

    # The life of the process.

    def run(self) -> None:
        """Watch until asked to stop. A second watcher of the same log makes this raise Fenced."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        signal.signal(signal.SIGUSR1, self._ask_for_frame)
        if self._http is None:
            self._go_on()
            return
        with serve_health(self._http, self.metrics.registry, self.find_obstacle) as address:
            log.info("starting", cluster=self._cluster, http=address)
            self._go_on()

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        if not self.stop.is_set():
            self.stop.set()
            timer = Timer(_DRAIN_S, self.give_up.set)
            timer.daemon = True
            timer.start()

    def _ask_for_frame(self, number: int, frame: FrameType | None) -> None:
        self._frame_wanted = True

    def _go_on(self) -> None:
        while not self.stop.is_set():
            kafka = self._open_log(self)
            try:
                self._watch(kafka)
                return
            except (Fenced, TopicRefused):
                raise
            except GaveUp:
                return
            except LogError as error:
                if self._patience_s is not None:
                    raise
                self.metrics.kafka_failures.inc()
                self.metrics.state = "the log's Kafka does not answer"
                log.warning("starting over", cluster=self._cluster, reason=str(error))
                self.stop.wait(_RETRY_S)
            finally:
                kafka.close()

    def _watch(self, kafka: Log) -> None:
        resume = kafka.open()
        if resume is None:
            return
        self.metrics.is_standby.set(0)
        inbox = Inbox(self._limits.buffer_bytes)
        outlet = Outlet(kafka, on_done=lambda: inbox.put(()))
        chronicle, reason = self._resume(resume)
        session = self._open_session(inbox, chronicle.zxid)
        if self._frame_wanted:
            self._frame_wanted = False
            chronicle.want_frame()
        chronicle.begin(reason, now_ms())
        sampler, listen = self._make_sampler(inbox, chronicle.release)
        edges = Edges(inbox, session, outlet, listen)
        loop = Loop(self.metrics, chronicle, edges, self._limits)
        session.start()
        if sampler is not None:
            sampler.start()
        try:
            loop.run(self._make_end(loop, session), self._take_frame_wish)
        finally:
            if sampler is not None:
                # Before ZooKeeper: the last word in the log is the gap that we leave.
                sampler.close()
            session.close()
        try:
            loop.drain()
        except LogError as error:
            if self._patience_s is None or isinstance(error, Fenced):
                raise
            # The look itself is in the log; the next watcher infers what came after it.
            log.warning("not published to the end", cluster=self._cluster, reason=str(error))
        finally:
            outlet.close(_DRAIN_S)

    def _resume(self, resume: Resume) -> tuple[Chronicle, GapReason]:
        """The model as it was last published, or an empty one for a new base."""
        tree = Tree()
        for path, row in (resume.rows or {}).items():
            tree.load(path, row)
        meta = resume.meta or _new_log()
        if resume.rows is None:
            meta = msgspec.structs.replace(meta, complete=False)
        release = Release(self._cluster, meta, tree, self._sealer, self._limits.batch_events)
        release.forget(resume.leftover)
        log.info(
            "log taken", cluster=self._cluster, log_id=meta.log_id, seq=meta.seq,
            znodes=len(tree), problem=resume.problem,
        )  # fmt: skip
        chronicle = Chronicle(
            release,
            reads_in_flight=self._limits.reads_in_flight,
            buffer_bytes=self._limits.buffer_bytes,
        )
        if not self._accept_cluster:
            chronicle.expected_cluster = meta.cluster_id
        return chronicle, resume.problem or "restart"

    def _make_sampler(
        self, inbox: Inbox, release: Release
    ) -> tuple[Sampler | None, Callable[[Message], None] | None]:
        """Only here, with the log in our hands: a standby samples nothing."""
        plan = self._sampling
        if plan is None or self._patience_s is not None:
            return None, None
        # Znode events come first: samples only while a quarter of the buffer would hold them all.
        limit = self._limits.buffer_bytes // 4
        handover = Handover(inbox, lambda: release.meta.seq, lambda: release.bytes_waiting <= limit)
        if plan.bootstrap is not None:
            return Sampler(plan, lambda: plan.bootstrap, handover, self.metrics), None
        endpoints = Endpoints(plan.client)
        return Sampler(plan, endpoints.bootstrap, handover, self.metrics), endpoints.note

    def _make_end(self, loop: Loop, session: ZooKeeperSession) -> Callable[[bool], bool]:
        """Told to stop; or asked for one complete look, and it is in the log."""
        if self._patience_s is None:
            return lambda published: self.stop.is_set()
        patience = OnceTimeout(self._patience_s)

        def is_over(published: bool) -> bool:
            if self._is_log_away:
                patience.wait_for("the log's Kafka", LogError, "no answer")
            elif not (session.connected or loop.has_let_go):
                patience.wait_for("ZooKeeper", ZooKeeperError, session.last_error)
            else:
                patience.renew()
            return published or self.stop.is_set()

        return is_over

    def _take_frame_wish(self) -> bool:
        wanted, self._frame_wanted = self._frame_wanted, False
        return wanted


def _new_log() -> Meta:
    born_s = int(time.time())
    return Meta(log_id=secrets.token_hex(8), seq=born_s * SEQ_PER_SECOND, zxid=0, observed_at_ms=0)
