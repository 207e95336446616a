"""Histories told of files, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from watcher.sealing import Sealing
from watcher.txnlog.files import find_files
from watcher.txnlog.finding import FileFinding
from watcher.txnlog.history import History, HistoryBatch
from watcher.txnlog.numbering import Bounds
from watcher.txnlog.walk import Walk
from zklake.events.envelope import Event
from zklake.events.redaction import Redactor

REDACTOR = Redactor(b"key")
CHANGES = ("create", "set", "delete")


class Teller:
    """Tells files once, and keeps what was found in them."""

    def __init__(
        self,
        logs: Sequence[Path],
        bounds: Bounds = Bounds(),
        *,
        chroot: str = "",
        start: int = -1,
        snapshots: Sequence[Path] = (),
    ) -> None:
        self.findings: list[FileFinding] = []
        report = self.findings.append
        self.walk = Walk(find_files(logs, snapshots), chroot, report, start)
        sealing = Sealing(REDACTOR, 900_000)
        self.history = History("c", self.walk, sealing, bounds, report)

    def tell_batches(self) -> list[HistoryBatch]:
        return list(self.history.read())

    def tell(self) -> list[Event]:
        return [event for batch in self.tell_batches() for event in batch.events]


def list_changes(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.op in CHANGES]


def read_all(*logs: Path, chroot: str = "") -> list[Event]:
    return Teller(logs, chroot=chroot).tell()
