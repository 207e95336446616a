"""The work of `zklake backfill --heal`: ZooKeeper's files give values to events that have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from streaming.healing import Healing
from streaming.lake.lake import Lake
from streaming.lake.lease import hold_lease
from streaming.remaking import is_made
from watcher.txnlog.finding import FileFinding
from watcher.txnlog.opening import HistoryRequest, open_healer
from zklake.cli.backfill_work import make_tables, say, show_reading
from zklake.cli.stream import find_lake
from zklake.events.envelope import Event
from zklake.phrases import format_count
from zklake.settings.models import Settings


@dataclass
class HealSummary:
    """What was healed, and what was not."""

    place: str
    # Events without a value, before.
    superseded: int = 0
    # Those that have one now, by kind of znode; and of these, whose value may not be published.
    healed: Counter[str] = field(default_factory=Counter)
    withheld: int = 0
    findings: list[FileFinding] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)

    def note(self, events: Iterable[Event]) -> None:
        """Count events that were healed."""
        for event in events:
            self.healed[event.kind or ""] += 1
            self.withheld += event.fidelity != "exact"

    def list_figures(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "lake": self.place,
            "superseded": self.superseded,
            "healed": self.healed.total(),
            "healed_by_kind": dict(self.healed),
            "withheld": self.withheld,
            "findings": [one.list_figures() for one in self.findings],
            "rows": self.rows,
        }

    def format(self) -> str:
        """For people."""
        count = self.healed.total()
        lines = []
        if count:
            withheld = f", {self.withheld:,} of them redacted" if self.withheld else ""
            lines.append(f"healed {format_count(count, 'superseded value')}{withheld}")
        else:
            lines.append(f"nothing new to heal in {self.place}")
        if left := self.superseded - count:
            lines.append(f"{format_count(left, 'superseded value')} not found in the files")
        if self.rows:
            made = format_count(sum(self.rows.values()), "row")
            lines.append(f"made {made} in {format_count(len(self.rows), 'table')} of {self.place}")
        return "\n".join(lines)


def heal_lake(settings: Settings, wanted: HistoryRequest) -> HealSummary:
    """Put the values of the files into the lake, under its lease."""
    lake = Lake(find_lake(settings), settings.cluster)
    summary = HealSummary(f"{lake.path}/{lake.cluster}")

    def report(finding: FileFinding) -> None:
        summary.findings.append(finding)
        say(str(finding))

    healing = Healing(lake)
    with hold_lease(lake.path, lake.cluster):
        unread = healing.read_unread()
        summary.superseded = len(unread)
        if unread:
            healer = open_healer(settings, wanted, unread, report)
            with show_reading(healer) as show:
                for events in healer.heal():
                    if events:
                        healing.put(events)
                    summary.note(events)
                    show()
        if not is_made(lake):
            summary.rows = make_tables(settings, lake)
    return summary
