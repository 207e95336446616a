"""The work of `zklake backfill`: the watcher's side reads ZooKeeper's files, the stream's folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from delta_tables.asking.lakes import is_remote
from streaming.backfill import Backfill, Past
from streaming.event_tasks import EventTasks
from streaming.fold.rules import read_rules
from streaming.lake.lake import Lake
from streaming.lake.lease import hold_lease
from streaming.rebuild import Tasks
from streaming.remaking import remake_tables
from watcher.txnlog.finding import FileFinding, Report
from watcher.txnlog.history import History
from watcher.txnlog.numbering import Bounds
from watcher.txnlog.opening import HistoryRequest, Meeting, open_history
from zklake.cli.rebuild import WORTH_A_START
from zklake.cli.stream import find_lake
from zklake.logs import escape
from zklake.phrases import format_count
from zklake.settings.models import Settings


@dataclass
class Summary:
    """What a backfill has found and made."""

    place: str
    transactions: int = 0
    events: dict[str, int] = field(default_factory=dict)
    first_zxid: int | None = None
    last_zxid: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    # Whether the live log goes on with the next transaction.
    is_met: bool = False
    findings: list[FileFinding] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)

    def list_figures(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "lake": self.place,
            "transactions": self.transactions,
            "events": self.events,
            "first_zxid": self.first_zxid,
            "last_zxid": self.last_zxid,
            "first_at": write_time(self.first_ms),
            "last_at": write_time(self.last_ms),
            "meets_live_log": self.is_met,
            "findings": [one.list_figures() for one in self.findings],
            "rows": self.rows,
        }

    def format(self) -> str:
        """For people."""
        if not self.transactions:
            return f"nothing new for {self.place}"
        events = format_count(sum(self.events.values()), "event")
        span = f"{write_time(self.first_ms)} to {write_time(self.last_ms)}"
        end = "; the live log goes on from there" if self.is_met else ""
        made = format_count(sum(self.rows.values()), "row")
        return (
            f"{format_count(self.transactions, 'transaction')}, {span}{end}\n"
            f"wrote {events} to {self.place}, {made} in {format_count(len(self.rows), 'table')}"
        )


def backfill_lake(settings: Settings, wanted: HistoryRequest, until_ms: int | None) -> Summary:
    """Read the files into the lake, under its lease."""
    lake = Lake(find_lake(settings), settings.cluster)
    summary = Summary(f"{lake.path}/{lake.cluster}")

    def report(finding: FileFinding) -> None:
        summary.findings.append(finding)
        say(str(finding))

    with hold_lease(lake.path, lake.cluster):
        backfill = Backfill(lake)
        past = backfill.read_past()
        history = _open(settings, wanted, past, until_ms, report)
        with show_reading(history) as show:
            for batch in history.read():
                backfill.append(batch.events, batch.zxid)
                show()
        if history.counts.transactions or not past.is_folded:
            summary.rows = make_tables(settings, lake)
    counts = history.counts
    summary.transactions, summary.events = counts.transactions, dict(counts.events)
    summary.first_zxid, summary.last_zxid = counts.first_zxid, counts.last_zxid
    summary.first_ms, summary.last_ms = counts.first_ms, counts.last_ms
    summary.is_met = counts.is_met
    return summary


def _open(
    settings: Settings, wanted: HistoryRequest, past: Past, until_ms: int | None, report: Report
) -> History:
    """Read only what the lake does not have yet."""
    known = (past.first_zxid, past.zxid, past.seq, past.at_ms, past.is_known)
    bounds = Bounds(*known, until_ms=until_ms)
    meeting = None
    if (live := past.live) is not None:
        bounds = bounds._replace(
            before_seq=live.seq, before_ms=live.at_ms, last_zxid=live.seen_zxid
        )
        meeting = Meeting(live.zxid, live.unnumbered) if live.zxid else None
    return open_history(settings, wanted, bounds, meeting, report)


def make_tables(settings: Settings, lake: Lake) -> dict[str, int]:
    """Make all tables of a lake anew; the number of rows by table."""
    options = settings.stream
    with closing(EventTasks(lake, options)) as run:
        large = WORTH_A_START * options.task_records
        tasks = None if is_remote(lake.path) else Tasks(run, large)
        return remake_tables(lake, say, read_rules(settings), tasks)


class Reading(Protocol):
    """Somebody who goes through files."""

    @property
    def size(self) -> int:
        """How much there is to read."""

    @property
    def size_read(self) -> int:
        """How much of it is done."""

    @property
    def reached_ms(self) -> int | None:
        """The time that it has come to."""


@contextmanager
def show_reading(reader: Reading) -> Iterator[Callable[[], None]]:
    """A bar in a terminal, on stderr; elsewhere only findings and the tables are said."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=reader.size)

        def show() -> None:
            reached = write_time(reader.reached_ms) or ""
            bar.update(task, completed=reader.size_read, description=f"reading {reached}")

        yield show


def write_time(at_ms: int | None) -> str | None:
    """A time as JSON has it."""
    if at_ms is None:
        return None
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def say(text: str) -> None:
    """Tell people, beside the result."""
    # Names of files are other people's bytes.
    print(escape(text), file=sys.stderr, flush=True)
