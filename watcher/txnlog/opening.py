"""From what is asked for to a history that can be read: where in the files it begins and ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from watcher.assembly import build_sealing
from watcher.txnlog.files import Files, find_files
from watcher.txnlog.finding import FileFinding, Report, TxnLogError
from watcher.txnlog.healing import Healer, find_least_zxid
from watcher.txnlog.history import History
from watcher.txnlog.numbering import Bounds
from watcher.txnlog.sequence import is_first
from watcher.txnlog.walk import TransactionStep, Walk, find_since
from zklake.events.envelope import Event
from zklake.settings.models import Settings


class HistoryRequest(NamedTuple):
    """What is asked for."""

    logs: Sequence[Path]
    snapshots: Sequence[Path] = ()
    chroot: str = ""
    since_ms: int | None = None


class Meeting(NamedTuple):
    """The first change of the live log whose transaction is known, and how many it has before."""

    zxid: int
    unnumbered: int = 0


def open_history(
    settings: Settings,
    wanted: HistoryRequest,
    bounds: Bounds,
    meeting: Meeting | None,
    report: Report,
) -> History:
    """Find the files, and where to begin; TxnLogError where there is nothing to read."""
    files = find_files(wanted.logs, wanted.snapshots)
    start = _find_start(files, wanted.since_ms, bounds.after_zxid, report)
    first = bounds.first_zxid
    if first is not None and wanted.since_ms is None and files.logs[0].zxid < first:
        says = f"those before 0x{first:x} are left out, for the lake's past begins there already"
        advice = "backfill into a new lake (--lake) to have them"
        report(FileFinding("the transactions", f"{says}: {advice}"))
    if meeting is not None:
        last = _find_last(files, wanted.chroot, meeting, start)
        bounds = bounds._replace(last_zxid=last)
    walk = Walk(files, wanted.chroot, report, start)
    return History(settings.cluster, walk, build_sealing(settings), bounds, report)


def open_healer(
    settings: Settings, wanted: HistoryRequest, unread: Sequence[Event], report: Report
) -> Healer:
    """Find the files in which the values of these events may be; TxnLogError if there are none."""
    files = find_files(wanted.logs, wanted.snapshots)
    least = min(map(find_least_zxid, unread), default=0)
    start = _find_start(files, None, least - 1, report)
    return Healer(
        Walk(files, wanted.chroot, report, start), build_sealing(settings), unread, report
    )


def _find_start(files: Files, since_ms: int | None, after_zxid: int | None, report: Report) -> int:
    """The zxid up to which a snapshot may be the beginning; -1: everything is read."""
    limits = [] if after_zxid is None else [after_zxid]
    if since_ms is not None:
        since = find_since(files.logs, since_ms)
        if since is None:
            raise TxnLogError("no transaction of that time or later in the files: see --since")
        limits.append(since - 1)
        if files.snapshots and all(one.zxid >= since for one in files.snapshots):
            says = "none is older than --since: all transactions are read, from the first"
            report(FileFinding("the snapshots", says))
    if not files.snapshots and not is_first(files.logs[0].zxid):
        says = (
            "there are none: what stood before the first transaction is not known. They lie in "
            "version-2 below dataDir of zoo.cfg (--snapshots)"
        )
        report(FileFinding("the snapshots", says, is_loss=True))
    return min(limits, default=-1)


def _find_last(files: Files, chroot: str, meeting: Meeting, start: int) -> int:
    """The last transaction before the live log.

    Before 3.9 a watcher does not learn of each change which transaction made it. It saw
    all, in order: so the ones before the first known are the last ones before that transaction.
    """
    if not meeting.unnumbered:
        return meeting.zxid - 1
    before: deque[int] = deque(maxlen=meeting.unnumbered)
    for step in Walk(files, chroot, lambda finding: None, start).run():
        if isinstance(step, TransactionStep):
            if step.transaction.zxid >= meeting.zxid:
                break
            before.extend([step.transaction.zxid] * len(step.changes))
    return (before[0] if len(before) == meeting.unnumbered else meeting.zxid) - 1
