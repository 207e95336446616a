"""The time range of a page, as its address says it, and times as SQL and as text. No clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from delta_tables.moments import Moment, parse_moment
from zklake.errors import QueryError

CHOICES = ("15m", "1h", "6h", "24h", "7d", "30d")
DEFAULT = "1h"
# DataFusion counts nanoseconds.
_FIRST_YEAR, _LAST_YEAR = 1970, 2200
# So many weeks or days before now are still a year that SQL can count.
LAST_PATTERN = "^([1-9][0-9]{0,4}[smh]|[1-9][0-9]{0,3}d|[1-9][0-9]{0,2}w)$"
# What each should have been, for whoever wrote something else.
LAST_FORMS = "a time span. Use a number and a unit: 15m, 1h, 7d"
MOMENT_FORMS = "ISO 8601 (UTC unless it has a time zone), `16:07` (the last one), `-15m` or `now`"
# The forms of a moment that are promised; `parse_moment` may know more.
MOMENT_PATTERN = (
    "^(now|-([0-9]{1,9}[wdhms])+|[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?)$"
)


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
    try:
        moment = parse_moment(text, now)
    except QueryError as error:
        raise QueryError(f"Cannot read {text!r} as a time. Use {MOMENT_FORMS}.") from error
    if not _FIRST_YEAR <= moment.at.year <= _LAST_YEAR:
        raise QueryError(
            f"Cannot read {text!r} as a time. Use a year from {_FIRST_YEAR} to {_LAST_YEAR}."
        )
    return moment


def read_span(params: Mapping[str, str], now: datetime) -> Span:
    """`last=1h`, or `from` and `to` as `zklake at` takes them; QueryError says what is wrong."""
    if params.get("from") or params.get("to"):
        end = read_moment(params.get("to") or "now", now).at
        start = (
            read_moment(params["from"], now).at if params.get("from") else end - timedelta(0, 3600)
        )
        if start >= end:
            raise QueryError(
                "The time range ends before it begins. Set `from` to a time before `to`."
            )
        return Span(start, end)
    last = params.get("last") or DEFAULT
    if not re.fullmatch(LAST_PATTERN, last):
        raise QueryError(f"last: cannot read {last!r} as {LAST_FORMS}")
    return Span(read_moment(f"-{last}", now).at, now, last)


def write_timestamp(at: datetime) -> str:
    """A SQL literal."""
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat()}'"


def write_time(at: datetime) -> str:
    """2026-11-16T03:12:00.250Z, without a fraction where it is none."""
    precision = "milliseconds" if at.microsecond else "seconds"
    return at.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def write_duration(seconds: float | None) -> str:
    """1.4 s, 3 min 20 s, 2 h 5 min, 4 d 3 h: two units at most."""
    if seconds is None:
        return ""
    sign = "−" if seconds < 0 else ""
    rest = abs(seconds)
    if rest < 1:
        return f"{sign}{rest * 1000:.0f} ms"
    if rest < 10:
        return f"{sign}{rest:.1f} s".replace(".0 s", " s")
    parts: list[str] = []
    left = round(rest)
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return sign + " ".join(part for part in parts[:2] if part)
