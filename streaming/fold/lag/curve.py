"""When the log of a partition reached which offset: its rows as points, one a minute, thinned.

Pure. What is kept depends only on the points and on the hour, never on when somebody looked: so it
is the same after a restart, from the rows of log_ends that the last 14 days confirmed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

import msgspec

HOUR_MS = 3_600_000
_MINUTE_MS = 60_000
_TEN_MINUTES_MS = 600_000
_DAY_MS = 24 * HOUR_MS
KEPT_MS = 14 * _DAY_MS


class Seconds(msgspec.Struct, frozen=True, gc=False):
    """A lag in time, how far it may be off, and how it was found."""

    value: float | None
    error: float | None
    quality: str


NOTHING_LEFT = Seconds(0.0, 0.0, "exact")
UNKNOWN = Seconds(None, None, "unknown")


class Curve:
    """Points of rows that have ended, of one incarnation: ends and times rise strictly.

    A point: the end, when it was first sampled, and when it was last confirmed.
    """

    __slots__ = ("_ends", "_firsts", "_hour_ms", "_incarnation", "_lasts")

    def __init__(self) -> None:
        self._ends, self._firsts, self._lasts = array("q"), array("q"), array("q")
        self._incarnation: int | None = None
        # The hour for which it was thinned last.
        self._hour_ms = 0

    def __len__(self) -> int:
        return len(self._ends)

    def goes_on(self, incarnation: int | None, end: int) -> bool:
        """Whether a row goes on from these points."""
        return bool(self._ends) and incarnation == self._incarnation and end >= self._ends[-1]

    def find_first(self, incarnation: int | None, end: int, at_ms: int) -> int:
        """Since when an end is known that is sampled at that time."""
        is_last = self.goes_on(incarnation, end) and self._ends[-1] == end
        return self._firsts[-1] if is_last else at_ms

    def add(self, incarnation: int | None, end: int, first_ms: int, last_ms: int) -> None:
        """A row with this end has ended; another topic's, or a smaller end, starts anew."""
        if not self.goes_on(incarnation, end):
            self._ends, self._firsts, self._lasts = array("q"), array("q"), array("q")
            self._incarnation = incarnation
        elif self._ends[-1] == end:
            self._lasts[-1] = last_ms
            return
        elif self._is_crowded(first_ms):
            del self._ends[-1], self._firsts[-1], self._lasts[-1]
        self._ends.append(end)
        self._firsts.append(first_ms)
        self._lasts.append(last_ms)
        # An end that stood for long comes late: its part must be thinned again.
        self._hour_ms = min(self._hour_ms, first_ms - first_ms % HOUR_MS)

    def _is_crowded(self, first_ms: int) -> bool:
        """Whether the last point gives way to one of the same minute: the one before is near.

        Where none is, the first of a minute is what the others are placed by, and stays.
        """
        minute_ms = first_ms - first_ms % _MINUTE_MS
        if len(self._ends) < 2 or self._firsts[-1] < minute_ms:
            return False
        return self._lasts[-2] >= minute_ms - _TEN_MINUTES_MS

    def thin(self, hour_ms: int) -> None:
        """Keep what is kept in the hour that begins then."""
        former, self._hour_ms = self._hour_ms, hour_ms
        if hour_ms <= former or not self._ends:
            return
        gone = bisect_left(self._lasts, hour_ms - KEPT_MS)
        del self._ends[:gone], self._firsts[:gone], self._lasts[:gone]
        # The limits are whole hours: no span is cut in two, and what was thinned stays so.
        self._keep_last(former - _DAY_MS, hour_ms - _DAY_MS, HOUR_MS)
        since = max(former - HOUR_MS, hour_ms - _DAY_MS)
        self._keep_last(since, hour_ms - HOUR_MS, _TEN_MINUTES_MS)

    def _keep_last(self, from_ms: int, to_ms: int, span_ms: int) -> None:
        """Of the points first sampled between two times, keep the last of each span."""
        firsts = self._firsts
        low, high = bisect_left(firsts, from_ms), bisect_left(firsts, to_ms)
        spans = [firsts[i] // span_ms for i in range(low, high)]
        kept = [low + i for i, span in enumerate(spans) if spans[i + 1 : i + 2] != [span]]
        if len(kept) < high - low:
            for points in (self._ends, firsts, self._lasts):
                points[low:high] = array("q", [points[i] for i in kept])

    def measure(self, committed: int, incarnation: int | None, end: int, first_ms: int) -> Seconds:
        """How much time of the log lies between an offset and the open row's end, first seen then.

        By the times at which ends were sampled, so it does not grow while nobody produces.
        """
        if not self.goes_on(incarnation, end):
            return UNKNOWN
        ends, firsts = self._ends, self._firsts
        if end == ends[-1]:
            first_ms = firsts[-1]
        index = bisect_right(ends, committed)
        if not index:
            return self._extrapolate(committed, end, first_ms)
        next_end, next_ms = end, first_ms
        if index < len(ends):
            next_end, next_ms = ends[index], firsts[index]
        last_end, last_ms = ends[index - 1], self._lasts[index - 1]
        span_ms = next_ms - last_ms if next_ms > last_ms else 0
        at_ms = last_ms + (committed - last_end) / (next_end - last_end) * span_ms
        value = round((first_ms - at_ms) / 1000, 3)
        quality = "interpolated" if span_ms else "exact"
        return Seconds(value if value > 0 else 0.0, span_ms / 1000, quality)

    def _extrapolate(self, committed: int, end: int, first_ms: int) -> Seconds:
        """Before the first point only the pace of all that is known can help."""
        oldest, oldest_ms = self._ends[0], self._firsts[0]
        if oldest >= end:
            return UNKNOWN
        pace = (first_ms - oldest_ms) / (end - oldest)
        at_ms = oldest_ms - (oldest - committed) * pace
        return Seconds(max(0.0, round((first_ms - at_ms) / 1000, 3)), None, "extrapolated")
