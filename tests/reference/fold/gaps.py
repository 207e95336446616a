"""The log_gaps table: when the watcher could not see, and what is missing from the log itself."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.states import OPEN, end
from zklake.events.envelope import Event

Row = dict[str, Any]


class Gaps:
    """All rows of one cluster, and the gaps in force."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        # By gap_id, oldest first.
        self.open: dict[str, Row] = {}

    @property
    def from_at(self) -> int | None:
        """When the newest gap in force began: what ended in it ended not before this."""
        if not self.open:
            return None
        newest = list(self.open.values())[-1]
        at: int | None = newest["valid_from_at"]
        return at

    def take(self, event: Event) -> None:
        """A gap begins or is prolonged, or something is said of what one hid."""
        gap = event.gap
        if gap is None:
            return
        if gap.id in self.open and (gap.lives is not None or event.path == "/"):
            row = self.open[gap.id]
            row["seen_seq"] = event.seq
            row["lives"] += gap.lives or 0
        elif gap.lives is not None:
            self._add_moment(event)
        elif event.path == "/":
            row = _row_of(event, timestamp(gap.from_ms))
            self.rows.append(row)
            self.open[gap.id] = row

    def take_break(self, event: Event) -> None:
        """A seq_hole or a seq_repeat, made by the stream."""
        if event.gap is not None:
            self._add_moment(event)

    def end_all(self, event: Event) -> None:
        """in_sync: the log again says all there is."""
        for row in self.open.values():
            end(row, "in_sync", event.seq, None, timestamp(event.observed_at_ms))
        self.open.clear()

    def _add_moment(self, event: Event) -> None:
        """A row that begins and ends at one event."""
        from_ms = event.gap.from_ms if event.gap else None
        row = _row_of(event, timestamp(event.observed_at_ms if from_ms is None else from_ms))
        end(row, "in_sync", event.seq, None, timestamp(event.observed_at_ms))
        self.rows.append(row)


def _row_of(event: Event, at: int | None) -> Row:
    gap = event.gap
    assert gap is not None
    has_lives = event.op == "gap" and gap.lives is not None
    return {
        "gap_id": gap.id,
        "reason": gap.reason,
        "coalescing": gap.coalescing,
        "path": event.path if has_lives else None,
        "lives": (gap.lives or 0) if has_lives else 0,
        "missed": event.missed if event.op == "seq_hole" else None,
        "seen_seq": event.seq,
        "valid_from_seq": event.seq,
        "valid_from_zxid": gap.from_zxid,
        "valid_from_at": at,
        **OPEN,
    }
