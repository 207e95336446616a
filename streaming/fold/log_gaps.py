"""log_gaps: a gap is open from its event until the watcher is in sync again."""

from __future__ import annotations

from collections.abc import Iterable

from streaming.fold.context import Context, begins_blindness
from streaming.fold.row import Row, close_row, open_row
from zklake.events.envelope import Event, Gap

OPS = ("gap", "in_sync", "seq_hole", "seq_repeat")


class LogGaps:
    """The gaps of one cluster that are open, by id, and rows that have ended."""

    name = "log_gaps"

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._open = {row["gap_id"]: dict(row) for row in rows}
        self._ended: list[Row] = []

    def concerns(self, event: Event, context: Context) -> bool:
        """Whether an event may change a row."""
        return event.op in OPS

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        if event.op == "in_sync":
            for row in self._open.values():
                close_row(row, event.seq, None, event.observed_at_ms, ended_by="in_sync")
                self._ended.append(row)
            self._open.clear()
        elif event.gap is not None:
            self._apply_gap(event, event.gap)

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the rows that are open, those that have ended since)."""
        ended, self._ended = self._ended, []
        return [*self._open.values()], ended

    def _apply_gap(self, event: Event, gap: Gap) -> None:
        is_lasting = event.op == "gap" and gap.lives is None
        if is_lasting and not begins_blindness(event):
            return
        if event.op == "gap" and gap.id in self._open:
            row = self._open[gap.id]
            row["seen_seq"] = event.seq
            row["lives"] += gap.lives or 0
            return
        row = _begin(event, gap, is_lasting)
        if is_lasting:
            self._open[gap.id] = row
        else:
            # A count, a hole or a repeat: it ends where it begins.
            close_row(row, event.seq, None, event.observed_at_ms, ended_by="in_sync")
            self._ended.append(row)


def _begin(event: Event, gap: Gap, is_lasting: bool) -> Row:
    at_ms = gap.from_ms if is_lasting or gap.from_ms is not None else event.observed_at_ms
    return open_row(
        event.cluster,
        event.seq,
        gap.from_zxid,
        at_ms,
        gap_id=gap.id,
        reason=gap.reason,
        path=event.path if event.op == "gap" and not is_lasting else None,
        coalescing=gap.coalescing,
        lives=(gap.lives or 0) if event.op == "gap" else 0,
        missed=event.missed if event.op == "seq_hole" else None,
    )
