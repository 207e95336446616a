"""ZooKeeper's files as events of the log: numbered, sealed, in batches that can be taken up again.

The past begins with a gap and a frame, as a log of the watcher's does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from watcher.drafts import publish_stat
from watcher.messages import ZnodeStat
from watcher.sealing import Sealer
from watcher.txnlog.finding import FileFinding, Report
from watcher.txnlog.numbering import Bounds, Numbering
from watcher.txnlog.sequence import follows
from watcher.txnlog.snapshot_file import StoredZnode, read_snapshot
from watcher.txnlog.walk import Base, Hole, TransactionStep, Walk, ZnodeChange
from zklake.events.envelope import (
    TXNLOG_ID,
    VERSION,
    Event,
    Fidelity,
    Frame,
    Gap,
    GapReason,
    Op,
    Stat,
)

_BATCH_EVENTS = 50_000
_BATCH_BYTES = 32 << 20


class HistoryBatch(NamedTuple):
    """Events in order; `zxid`: all up to it is in; None: a frame has not ended."""

    events: list[Event]
    zxid: int | None


@dataclass
class Counts:
    """What was read."""

    transactions: int = 0
    events: Counter[str] = field(default_factory=Counter)
    first_zxid: int | None = None
    last_zxid: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    # Whether the last transaction is the one before the live log's first.
    is_met: bool = False


class History:
    """Tells the files once."""

    def __init__(
        self, cluster: str, walk: Walk, sealer: Sealer, bounds: Bounds, report: Report
    ) -> None:
        self._cluster, self._walk, self._sealer = cluster, walk, sealer
        self._bounds, self._report = bounds, report
        self._numbering = Numbering(bounds)
        self._events: list[Event] = []
        self._bytes = 0
        # The last transaction that was written, and the last that was read.
        self._last_zxid: int | None = None
        self._read: int | None = None
        self._read_ms = 0
        # Whether readers of the events know the whole tree.
        self._is_known = bounds.after_is_known
        self._has_begun = False
        self.counts = Counts()

    @property
    def size(self) -> int:
        """How much there is to read."""
        return self._walk.size

    @property
    def size_read(self) -> int:
        """How much of it is done."""
        return self._walk.size_read

    @property
    def reached_ms(self) -> int | None:
        """The time that it has come to."""
        return self.counts.last_ms

    def read(self) -> Iterator[HistoryBatch]:
        """The events, batch by batch; the last one says where they end."""
        after, last = self._bounds.after_zxid, self._bounds.last_zxid
        for step in self._walk.run():
            transaction = step.transaction if isinstance(step, TransactionStep) else step.next
            if after is not None and transaction.zxid <= after:
                self._read = transaction.zxid
                continue
            if last is not None and transaction.zxid > last:
                self.counts.is_met = self._is_known
                break
            if self._is_too_late(transaction.time_ms):
                break
            if len(self._events) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES:
                yield self._cut(self._last_zxid)
            self._begin(transaction.zxid, transaction.time_ms)
            if isinstance(step, Hole):
                self._write_hole(step)
            elif isinstance(step, TransactionStep):
                self._write_step(step)
            elif not self._is_known:
                yield from self._write_frame(step)
        if self._last_zxid is not None:
            self._end()
            yield self._cut(self._last_zxid)

    def _is_too_late(self, time_ms: int) -> bool:
        return self._bounds.until_ms is not None and time_ms > self._bounds.until_ms

    def _begin(self, zxid: int, time_ms: int) -> None:
        """Before the first event: what is known of the time before it."""
        if self._has_begun:
            return
        self._has_begun = True
        after = self._bounds.after_zxid
        if after is None:
            self._declare("first_start", time_ms, zxid)
        elif self._read is None and not follows(after, zxid):
            self._declare("txnlog_hole", time_ms, zxid, after)
        elif self._is_known:
            # The last backfill ended with a gap.
            frame = Frame(id=_name(after), base="model")
            self._emit(Event(*self._head("in_sync", self._numbering.at_ms), path="/", frame=frame))

    def _write_hole(self, hole: Hole) -> None:
        self._report(describe_hole(hole))
        self._declare("txnlog_hole", hole.next.time_ms, hole.next.zxid, hole.after_zxid)

    def _declare(
        self, reason: GapReason, time_ms: int, zxid: int, after_zxid: int | None = None
    ) -> None:
        from_ms = None if after_zxid is None else max(self._read_ms, self._numbering.at_ms)
        gap = Gap(id=_name(zxid), reason=reason, from_ms=from_ms, from_zxid=after_zxid)
        self._emit(Event(*self._head("gap", time_ms), path="/", zxid=zxid, gap=gap))
        self._is_known = False

    def _write_frame(self, base: Base) -> Iterator[HistoryBatch]:
        """The tree as a snapshot has it: a read of every znode."""
        zxid = base.next.zxid - 1 if base.snapshot is None else base.snapshot.zxid
        # When the snapshot was taken, is not recorded: not before the last event.
        at_ms = self._numbering.at_ms or base.next.time_ms
        name, znodes = _name(zxid), 0
        self._emit(Event(*self._head("frame_begin", at_ms), path="/", frame=Frame(id=name)))
        for node in [] if base.snapshot is None else read_snapshot(base.snapshot.path):
            path = self._walk.find_inner(node.path)
            if path is None or node.czxid > zxid:
                continue
            znodes += 1
            self._write_read(path, node, zxid, at_ms)
            if len(self._events) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES:
                yield self._cut(None)
        frame = Frame(id=name, base="none", znodes=znodes, unreadable=0)
        self._emit(Event(*self._head("in_sync", at_ms), path="/", frame=frame))
        self._is_known = True

    def _write_read(self, path: str, node: StoredZnode, zxid: int, at_ms: int) -> None:
        stat = self._walk.znodes.find(node.path)
        if stat is None:
            return
        if node.mzxid > zxid:
            # Written again while the snapshot was: that write follows in its turn.
            born = Stat(czxid=node.czxid, ctime=node.ctime, ephemeral_owner=node.ephemeral_owner)
            self._write("read", path, at_ms, None, stat=born, fidelity="superseded")
        else:
            known = publish_stat(stat)
            self._write("read", path, at_ms, node.mzxid, stat=known, data=node.data)

    def _write_step(self, step: TransactionStep) -> None:
        (zxid, session, time_ms, _), counts = step.transaction, self.counts
        for change in step.changes:
            stat, data = publish_change(change), change.data
            self._write(
                change.op, change.path, time_ms, zxid, stat=stat, data=data, session=session
            )
        self._last_zxid = self._read = counts.last_zxid = zxid
        self._read_ms = time_ms
        counts.transactions += 1
        counts.last_ms = time_ms
        if counts.first_zxid is None:
            counts.first_zxid, counts.first_ms = zxid, time_ms

    def _write(
        self,
        op: Op,
        path: str,
        time_ms: int,
        zxid: int | None,
        *,
        stat: Stat | None,
        data: bytes | None = None,
        fidelity: Fidelity = "exact",
        session: int | None = None,
    ) -> None:
        sealer = self._sealer
        path = sealer.path(path)
        text = b64 = packed = data_hash = None
        if op != "delete" and fidelity == "exact":
            text, b64, packed, data_hash, fidelity = sealer.seal(path, data)
        # By place, in the order of its fields: names would cost ten times as much.
        event = Event(
            *self._head(op, time_ms), VERSION, path, sealer.kind(path), zxid, None, None,
            text, b64, packed, data_hash, fidelity, stat, "txnlog", session=session,
        )  # fmt: skip
        self._emit(event)
        self._bytes += len(data or b"") + len(path)

    def _head(self, op: Op, time_ms: int) -> tuple[str, str, int, Op, int]:
        """The first fields of an event."""
        numbering = self._numbering
        numbering.move(time_ms)
        return self._cluster, TXNLOG_ID, numbering.seq, op, numbering.at_ms

    def _emit(self, event: Event) -> None:
        self._events.append(event)
        self.counts.events[event.op] += 1

    def _end(self) -> None:
        """Where the files end and no live log goes on, the time that follows is a gap."""
        assert self._last_zxid is not None
        self.counts.is_met |= self._is_known and self._last_zxid == self._bounds.last_zxid
        if not self.counts.is_met:
            self._declare("txnlog_end", self._read_ms, self._last_zxid + 1, self._last_zxid)

    def _cut(self, zxid: int | None) -> HistoryBatch:
        events, self._events, self._bytes = self._events, [], 0
        return HistoryBatch(events, zxid)


def describe_hole(hole: Hole) -> FileFinding:
    """What it means, and what to do."""
    says = (
        f"no transaction between 0x{hole.after_zxid:x} and 0x{hole.next.zxid:x}: files are missing "
        "or damaged. Another server of the ensemble may have them (give --txnlog twice)"
    )
    return FileFinding("the logs", says, is_loss=True)


def publish_change(change: ZnodeChange) -> Stat | None:
    """The stat as the watcher publishes it: whole, or what identifies a deleted znode."""
    stat = change.stat
    if stat is None:
        return None
    if change.op != "delete":
        return publish_stat(stat) if stat.czxid or change.op == "create" else _publish_part(stat)
    return Stat(
        czxid=stat.czxid or None,
        mzxid=stat.mzxid or None,
        version=stat.version if stat.mzxid else None,
        aversion=stat.aversion,
        ephemeral_owner=stat.ephemeral_owner,
    )


def _publish_part(stat: ZnodeStat) -> Stat:
    """Of a znode whose birth is in no file."""
    mzxid, mtime, version, length = stat.mzxid, stat.mtime, stat.version, stat.data_length
    return Stat(mzxid=mzxid, mtime=mtime, version=version, data_length=length)


def _name(zxid: int) -> str:
    return f"txnlog-{zxid:x}"
