"""A time range as a condition in SQL, and moments that SQL can count. No clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from delta_tables.asking.moments import Moment, parse_moment
from zklake.errors import QueryError
from zklake.times import write_time

# DataFusion counts nanoseconds.
_FIRST_YEAR, _LAST_YEAR = 1970, 2200


@dataclass(frozen=True)
class Span:
    """From start to end; `last` when the address says it as a time before now."""

    start: datetime
    end: datetime
    last: str | None = None

    @property
    def params(self) -> dict[str, str]:
        """How an address says it."""
        if self.last:
            return {"last": self.last}
        return {"from": write_time(self.start), "to": write_time(self.end)}

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()

    def write_overlap(self, prefix: str = "") -> str:
        """SQL: whether a state held at some time in it. Files of earlier dates are not read."""
        start = self._write_start()
        day = f"DATE '{self.start.date().isoformat()}'"
        p = prefix
        held = f"({p}is_open OR ({p}closed_on >= {day} AND {p}valid_to_at > {start}))"
        return f"{held}{self._write_before(f'{p}valid_from_at')}"

    def write_within(self, column: str) -> str:
        """SQL: whether a time lies in it."""
        return f"{column} >= {self._write_start()}{self._write_before(column)}"

    def _write_start(self) -> str:
        # A range that moves with the clock asks the same for a minute: its answer may be kept.
        start = self.start.replace(second=0, microsecond=0) if self.last else self.start
        return write_timestamp(start)

    def _write_before(self, column: str) -> str:
        # What has no time lies in no range.
        return f" AND {column} " + (
            "IS NOT NULL" if self.last else f"< {write_timestamp(self.end)}"
        )

    def share(self, at: datetime) -> float:
        """Where a moment lies in it: 0 at its start, 1 at its end, and never beyond."""
        passed = (at - self.start).total_seconds() / max(self.seconds, 0.001)
        return min(1.0, max(0.0, passed))


def read_moment(text: str, now: datetime) -> Moment:
    """A moment as `zklake at` takes it, of a year that SQL can count."""
    moment = parse_moment(text, now)
    if not _FIRST_YEAR <= moment.at.year <= _LAST_YEAR:
        raise QueryError(
            f"Cannot read {text!r} as a time. Use a year from {_FIRST_YEAR} to {_LAST_YEAR}."
        )
    return moment


def write_timestamp(at: datetime) -> str:
    """A SQL literal."""
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat()}'"
