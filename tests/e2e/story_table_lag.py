"""What a group's lag was by its coordinator and the brokers, seen in offset_lag."""

from __future__ import annotations

from tests.e2e.lake_past import LATE_MS, Fact, LakePast, Row
from tests.e2e.theatre import SAMPLE_MS
from tests.reference.past import Contradiction

# Rounds come so often; a commit waits for the next one, which may be late on a busy machine.
SEEN_MS = 2 * SAMPLE_MS + 2 * LATE_MS


def check_lag(past: LakePast, fact: Fact) -> None:
    """Raise when no round of that time, or right after, told exactly this."""
    wanted = {name: fact[name] for name in ("committed", "ends", "lag")}
    seen = [_describe(rows) for rows in _list_sights(past, fact)]
    if wanted not in seen:
        raise Contradiction(f"offset_lag says {seen[-1:]}, the truth is {wanted}")


def _list_sights(past: LakePast, fact: Fact) -> list[list[Row]]:
    """The group's rows of that topic at each moment at which one of them had just been sampled."""
    subject = {"coordinator": fact["coordinator"], "group_id": fact["group"]}
    rows = past.find("offset_lag", **subject, topic=fact["topic"])
    latest = fact["to_ms"] + SEEN_MS
    begun = {row["valid_from_at"] for row in rows if row["valid_from_at"] <= latest}
    moments = {ms for ms in begun if ms >= fact["from_ms"]} | {fact["to_ms"], latest}
    held = [
        [
            row
            for row in rows
            if row["valid_from_at"] <= ms and (row["is_open"] or row["valid_to_at"] > ms)
        ]
        for ms in sorted(moments)
    ]
    return [rows for rows in held if all(_is_fresh(row, fact) for row in rows)]


def _is_fresh(row: Row, fact: Fact) -> bool:
    return bool(row["sampled_at"] is not None and row["sampled_at"] >= fact["from_ms"])


def _describe(rows: list[Row]) -> Fact:
    return {
        "committed": {str(row["partition"]): row["committed_offset"] for row in rows},
        "ends": {str(row["partition"]): row["log_end_offset"] for row in rows},
        "lag": {str(row["partition"]): row["lag"] for row in rows},
    }
