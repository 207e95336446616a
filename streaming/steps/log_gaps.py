"""log_gaps, step by step: a gap is open from its event until the watcher is in sync again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streaming.steps.row import Row, close_row, open_row
from streaming.steps.surroundings import Blindness, Surroundings
from zklake.events.envelope import Event, Gap

OPS = ("gap", "in_sync", "seq_hole", "seq_repeat")


def fold_log_gaps(rows: Sequence[Row], events: Iterable[Event], around: Surroundings) -> list[Row]:
    """The open rows and these events -> the rows that stand open then, and those just ended."""
    folded = [dict(row) for row in rows]
    for event in events:
        if event.op == "in_sync":
            for row in _open(folded, event.cluster):
                close_row(row, event.seq, None, event.observed_at_ms, ended_by="in_sync")
        elif event.gap is not None and event.op in OPS:
            _take(folded, event, event.gap)
    return folded


def find_blindness(rows: Iterable[Row]) -> tuple[Blindness, ...]:
    """Where gaps of the whole tree were in force; where several were, the newest counts."""
    found: list[Blindness] = []
    # A row that ends where it begins is a count or a hole: nothing happens inside it.
    lasting = [r for r in rows if r["valid_to_seq"] != r["valid_from_seq"]]
    for row in sorted(lasting, key=lambda row: (row["cluster"], row["valid_from_seq"])):
        first = row["valid_from_seq"] + 1
        if found and found[-1].cluster == row["cluster"]:
            last = found[-1].last_seq
            found[-1] = found[-1]._replace(
                last_seq=first - 1 if last is None else min(last, first - 1)
            )
        found.append(Blindness(row["cluster"], first, row["valid_to_seq"], row["valid_from_at"]))
    return tuple(found)


def _open(rows: Iterable[Row], cluster: str) -> list[Row]:
    return [row for row in rows if row["is_open"] and row["cluster"] == cluster]


def _take(rows: list[Row], event: Event, gap: Gap) -> None:
    if event.op == "gap" and gap.lives is None and event.path != "/":
        return
    same = [row for row in _open(rows, event.cluster) if row["gap_id"] == gap.id]
    if same and event.op == "gap":
        same[0]["seen_seq"] = event.seq
        same[0]["lives"] += gap.lives or 0
        return
    is_moment = event.op != "gap" or gap.lives is not None
    at_ms = event.observed_at_ms if is_moment and gap.from_ms is None else gap.from_ms
    row = open_row(
        event.cluster,
        event.seq,
        gap.from_zxid,
        at_ms,
        gap_id=gap.id,
        reason=gap.reason,
        path=event.path if event.op == "gap" and is_moment else None,
        coalescing=gap.coalescing,
        lives=(gap.lives or 0) if event.op == "gap" else 0,
        missed=event.missed if event.op == "seq_hole" else None,
    )
    if is_moment:
        close_row(row, event.seq, None, event.observed_at_ms, ended_by="in_sync")
    rows.append(row)
