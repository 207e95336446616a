"""What a story is made of: rows of tables, whose times count back from now."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

# Names as a hostile client could choose them.
HOSTILE_GROUP = "\"><img src=x onerror='alert(1)'>/%2F../{{7*7}}"
HOSTILE_TOPIC = "<script>alert('topic')</script>"
if "ZKLAKE_PICTURES" in os.environ:
    # The README's pictures show names that people give.
    HOSTILE_GROUP, HOSTILE_TOPIC = "reports", "reports"
UNICODE_GROUP = "naïve–группа 🐘"
Row = dict[str, Any]


class Story:
    """Rows by table; `at(20)` is twenty minutes ago."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.rows: dict[str, list[Row]] = {}
        self._seq = 1000

    def at(self, minutes: float) -> datetime:
        return self.now - timedelta(minutes=minutes)

    def add(self, table: str, start: float, end: float | None, **columns: Any) -> None:
        """A state from so many minutes ago until so many minutes ago, or open."""
        self._seq += 1
        row = {
            "valid_from_seq": self._seq,
            "valid_from_at": write(self.at(start)),
            "valid_to_at": None if end is None else write(self.at(end)),
            "closed_on": None if end is None else self.at(end).date().isoformat(),
            **columns,
        }
        if end is not None:
            row["valid_to_seq"] = self._seq + 1
        self.rows.setdefault(table, []).append(row)


def write(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
