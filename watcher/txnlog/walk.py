"""The way through the files: what became of the tree, transaction by transaction.

Where transactions are missing, the next snapshot says how the tree stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from watcher.messages import ZnodeStat
from watcher.txnlog.files import Files, LogFile, SnapshotFile
from watcher.txnlog.finding import FileFinding, Report
from watcher.txnlog.log_file import read_log
from watcher.txnlog.sequence import follows, is_first, read_transactions
from watcher.txnlog.snapshot_file import BrokenSnapshot, read_snapshot
from watcher.txnlog.transaction import Change, Transaction
from watcher.txnlog.znodes import Znodes


class Hole(NamedTuple):
    """No file has the transactions between that one and the next."""

    after_zxid: int
    next: Transaction


class Base(NamedTuple):
    """The whole tree is known before the next transaction; None: of an ensemble just begun."""

    snapshot: SnapshotFile | None
    next: Transaction


class ZnodeChange(NamedTuple):
    """What became of one znode; `stat` is None where nothing is known of it."""

    op: Literal["create", "set", "delete"]
    path: str
    stat: ZnodeStat | None
    data: bytes | None = None


class TransactionStep(NamedTuple):
    """A transaction, and what it did inside the chroot."""

    transaction: Transaction
    changes: list[ZnodeChange]


class Walk:
    """One way through the files."""

    def __init__(self, files: Files, chroot: str, report: Report, start_zxid: int = -1) -> None:
        """`start_zxid`: begin with the newest snapshot complete by then; else with all there is."""
        self.znodes = Znodes()
        self.is_known = False
        self._snapshots, self._report = files.snapshots, report
        self._chroot = "" if chroot == "/" else chroot
        self._last = _find_complete(files.snapshots, start_zxid)
        self._logs = _leave_out_older(files.logs, self._last)
        # How much there is to read, and how much of it is done.
        self.size, self.size_read = sum(log.path.stat().st_size for log in self._logs), 0

    def run(self) -> Iterator[Hole | Base | TransactionStep]:
        """Everything in order; the tree stands as of the last step."""
        for transaction in read_transactions(self._logs, self._report, self._advance):
            if transaction.zxid <= self._last:
                continue
            yield from self._reach(transaction)
            yield TransactionStep(transaction, list(self._apply(transaction)))
            self._last = transaction.zxid

    def _advance(self, count: int) -> None:
        self.size_read += count

    def find_inner(self, path: str) -> str | None:
        """The path inside the chroot; None: it lies outside."""
        chroot = self._chroot
        if not chroot:
            return path
        if path == chroot:
            return "/"
        return path[len(chroot) :] if path.startswith(chroot + "/") else None

    def _reach(self, transaction: Transaction) -> Iterator[Hole | Base]:
        """Before a transaction: one that does not follow the last leaves the tree unknown."""
        zxid = transaction.zxid
        if self._last >= 0 and not follows(self._last, zxid):
            self.is_known = False
            yield Hole(self._last, transaction)
        if self.is_known:
            return
        for snapshot in reversed(self._snapshots):
            at = snapshot.zxid
            if self._last <= at < zxid and follows(at, zxid) and self._load(snapshot):
                yield Base(snapshot, transaction)
                return
        if self._last < 0 and is_first(zxid):
            self.znodes.begin_empty()
            self.is_known = True
            yield Base(None, transaction)

    def _load(self, snapshot: SnapshotFile) -> bool:
        try:
            self.znodes.load(read_snapshot(snapshot.path), snapshot.zxid)
        except BrokenSnapshot as error:
            says = f"{error}; the tree stays unknown until the next snapshot"
            self._report(FileFinding(str(snapshot.path), says, is_loss=True))
            self.znodes = Znodes()
            return False
        self.is_known = True
        return True

    def _apply(self, transaction: Transaction) -> Iterator[ZnodeChange]:
        for change in transaction.changes:
            if change.op == "close":
                for path in self.znodes.list_closed(change):
                    yield from self._apply_one(transaction, Change("delete", path))
            else:
                yield from self._apply_one(transaction, change)

    def _apply_one(self, transaction: Transaction, change: Change) -> Iterator[ZnodeChange]:
        removed = self.znodes.apply(transaction, change)
        path = self.find_inner(change.path)
        if path is None:
            return
        if change.op == "delete":
            yield ZnodeChange("delete", path, removed)
        elif change.op != "acl" and change.op != "close":  # noqa: PLR1714  # mypy narrows by these
            yield ZnodeChange(change.op, path, self.znodes.find(change.path), change.data)


def find_since(logs: Sequence[LogFile], since_ms: int) -> int | None:
    """The zxid of the first transaction at that time or later; None: there is none."""
    behind: LogFile | None = None
    for log in sorted(logs):
        first = next(read_log(log.path, _ignore), None)
        if first is None:
            continue
        if first.transaction.time_ms >= since_ms:
            return min(_find_in(behind, since_ms) or first.transaction.zxid, first.transaction.zxid)
        behind = log
    return _find_in(behind, since_ms)


def _find_in(log: LogFile | None, since_ms: int) -> int | None:
    for entry in read_log(log.path, _ignore) if log is not None else ():
        if entry.transaction.time_ms >= since_ms:
            return entry.transaction.zxid
    return None


def _ignore(finding: FileFinding) -> None:
    """It is reported when the file is read for its events."""


def _find_complete(snapshots: Sequence[SnapshotFile], zxid: int) -> int:
    """The newest snapshot whose writing had ended by then; -1: nobody can say it of any.

    The server goes on while it writes one. What is deleted meanwhile may be missing, and before
    3.6 the log of a session's end does not list what went with it. Where the same server has begun
    another snapshot, it is done with the one before.
    """
    complete = -1
    older: dict[Path, int] = {}
    for snapshot in snapshots:
        if snapshot.zxid <= zxid:
            complete = max(complete, older.get(snapshot.path.parent, -1))
            older[snapshot.path.parent] = snapshot.zxid
    return complete


def _leave_out_older(logs: Sequence[LogFile], zxid: int) -> list[LogFile]:
    """Without the files of which the next one of their server shows that they end before."""
    kept = []
    for log in logs:
        later = [one.zxid for one in logs if one.server == log.server and one.zxid > log.zxid]
        if not later or min(later) > zxid + 1:
            kept.append(log)
    return kept
