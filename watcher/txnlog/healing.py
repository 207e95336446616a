"""Values that the watcher could not read in time, found in ZooKeeper's files.

An event without a value says of which life and version it is, or by which transaction. The change
of which the files say the same has the value; it is sealed as the watcher would have sealed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from watcher.messages import ZnodeStat
from watcher.sealing import Sealer
from watcher.txnlog.finding import Report
from watcher.txnlog.history import describe_hole, publish_change
from watcher.txnlog.transaction import Transaction
from watcher.txnlog.walk import Hole, TransactionStep, Walk, ZnodeChange
from zklake.events.envelope import Event, Stat

_BATCH_EVENTS = 50_000
_BATCH_BYTES = 32 << 20
# After so many transactions whoever watches is told how far it is.
_STEPS_SHOWN = 10_000
_NO_STAT = Stat()


class Unread:
    """Events without a value, by what identifies the change that each is of."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_zxid: dict[tuple[str, int], list[Event]] = {}
        self._by_version: dict[tuple[str, int, int], list[Event]] = {}
        self._paths: set[str] = set()
        self.left = 0
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        path, (_, czxid, version) = event.path or "", _identify(event)
        if (zxid := find_zxid(event)) is not None:
            self._by_zxid.setdefault((path, zxid), []).append(event)
        elif czxid and version is not None:
            self._by_version.setdefault((path, czxid, version), []).append(event)
        else:
            # Before ZooKeeper 3.9, of a life that was over before it could be read.
            return
        self._paths.add(path)
        self.left += 1

    def names(self, path: str) -> bool:
        """Whether one of them is of that znode."""
        return path in self._paths

    def take(self, path: str, zxid: int, change: ZnodeChange) -> list[Event]:
        """Those that are of a change in the files; they are asked for no more."""
        stat = change.stat
        if stat is None or change.op == "delete":
            return []
        found = self._by_version.pop((path, stat.czxid, stat.version), [])
        held = self._by_zxid.get((path, zxid), [])
        for event in [event for event in held if _is_of(event, change.op, stat)]:
            held.remove(event)
            found.append(event)
        self.left -= len(found)
        return found


class Healer:
    """Goes once through the files, and gives events the values they lack."""

    def __init__(self, walk: Walk, sealer: Sealer, unread: Sequence[Event], report: Report) -> None:
        self._walk, self._sealer, self._report = walk, sealer, report
        self._unread = Unread(unread)
        self._events: list[Event] = []
        self._bytes = 0
        # The time of the transaction that was read last.
        self.reached_ms: int | None = None

    @property
    def size(self) -> int:
        """How much there is to read."""
        return self._walk.size

    @property
    def size_read(self) -> int:
        """How much of it is done."""
        return self._walk.size_read

    def heal(self) -> Iterator[list[Event]]:
        """The events with their values, some at a time; none: it has only read on."""
        steps = self._walk.run() if self._unread.left else iter(())
        for number, step in enumerate(steps, start=1):
            if isinstance(step, Hole):
                self._report(describe_hole(step))
            elif isinstance(step, TransactionStep):
                self._take(step)
            if len(self._events) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES:
                yield self._cut()
            elif not number % _STEPS_SHOWN:
                yield []
            if not self._unread.left:
                break
        yield self._cut()

    def _take(self, step: TransactionStep) -> None:
        self.reached_ms = step.transaction.time_ms
        for change in step.changes:
            path = self._sealer.path(change.path)
            if self._unread.names(path):
                for event in self._unread.take(path, step.transaction.zxid, change):
                    self._events.append(self._fill(event, step.transaction, change))
                    self._bytes += len(change.data or b"")

    def _fill(self, event: Event, transaction: Transaction, change: ZnodeChange) -> Event:
        """The event as the watcher would have written it, had it read in time; and the session."""
        assert event.path is not None
        text, b64, packed, data_hash, fidelity = self._sealer.seal(event.path, change.data)
        return msgspec.structs.replace(
            event,
            zxid=event.zxid if event.op == "create" and event.zxid else transaction.zxid,
            data=text,
            data_b64=b64,
            data_zlib_b64=packed,
            data_hash=data_hash,
            fidelity=fidelity,
            stat=_join(event.stat or _NO_STAT, publish_change(change) or _NO_STAT),
            # What was inferred stays so: where it lies among other changes, nobody saw.
            origin="txnlog" if event.origin == "watch" else event.origin,
            session=transaction.session,
        )

    def _cut(self) -> list[Event]:
        events, self._events, self._bytes = self._events, [], 0
        return events


def find_zxid(event: Event) -> int | None:
    """The transaction of the very state that an event is of, where it is known.

    One that was found only later, as the n-th version of its life, bears the zxid of the birth.
    """
    op, _, version = _identify(event)
    is_own = op == "set" or (op == "create" and not version)
    return event.zxid if is_own else None


def find_least_zxid(event: Event) -> int:
    """No transaction before this one can be the one that an event is of."""
    stat = event.stat or _NO_STAT
    return find_zxid(event) or stat.mzxid or stat.czxid or 0


def _identify(event: Event) -> tuple[str, int | None, int | None]:
    stat = event.stat or _NO_STAT
    is_born = event.op == "create" and stat.version is None
    return event.op, stat.czxid, 0 if is_born else stat.version


def _is_of(event: Event, op: str, stat: ZnodeStat) -> bool:
    """Whether an event can be of a change of its znode in its transaction: what is not known
    contradicts nothing."""
    own_op, czxid, version = _identify(event)
    is_life = not czxid or not stat.czxid or czxid == stat.czxid
    return own_op == op and is_life and version in (None, stat.version)


def _join(known: Stat, change: Stat) -> Stat:
    """What the files say, and what only the event knew."""
    both = zip(msgspec.structs.astuple(change), msgspec.structs.astuple(known), strict=True)
    return Stat(*(one if one is not None else other for one, other in both))
