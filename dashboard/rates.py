"""Records per second, from offsets as they were seen. Knows no table and no page.

An offset is known when it is read; between two readings the records are spread evenly, but no
further back than `spread`: who stood still for an hour and moves again did not read for an hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

# So many waits make a habit.
_ENOUGH = 4


class OffsetReading(NamedTuple):
    """An offset, in seconds since 1970."""

    at: float
    offset: int


class Readings(NamedTuple):
    """Those of one partition, in order, and until when the last one is known to hold."""

    readings: Sequence[OffsetReading]
    until: float


def measure_rates(
    parts: Iterable[Readings], grid: range, step: int, spread: float
) -> list[float | None]:
    """Of all partitions together, at each point of the grid; None where nothing is known."""
    records = dict.fromkeys(grid, 0.0)
    known = dict.fromkeys(grid, 0.0)
    for part in parts:
        changes = _list_changes(part.readings)
        if not changes:
            continue
        reach = max(spread, _find_usual(changes))
        for before, after in pairwise(changes):
            began = max(before.at, after.at - reach)
            if after.offset > before.offset and after.at > began:
                pace = (after.offset - before.offset) / (after.at - began)
                for bucket, seconds in _overlap(began, after.at, grid, step):
                    records[bucket] += pace * seconds
        # What came after the last change may still be on its way.
        last = changes[-1].at
        until = part.until if part.until - last > reach else last
        for bucket, seconds in _overlap(changes[0].at, until, grid, step):
            known[bucket] = max(known[bucket], seconds)
    return [round(records[one] / known[one], 3) if known[one] > 0 else None for one in grid]


def _find_usual(changes: Sequence[OffsetReading]) -> float:
    """Who always commits every five minutes reads in between: half as long again is usual."""
    waits = [after.at - before.at for before, after in pairwise(changes)]
    return 1.5 * median(waits) if len(waits) >= _ENOUGH else 0.0


def _list_changes(readings: Sequence[OffsetReading]) -> list[OffsetReading]:
    changes: list[OffsetReading] = []
    for one in readings:
        if not changes or one.offset != changes[-1].offset:
            changes.append(one)
    return changes


def _overlap(start: float, end: float, grid: range, step: int) -> Iterator[tuple[int, float]]:
    """The points of the grid that a time touches, and for how many seconds."""
    first = max(grid.start, int(start // step))
    for bucket in range(first, min(grid.stop, int(end // step) + 1)):
        seconds = min(end, (bucket + 1) * step) - max(start, bucket * step)
        if seconds > 0:
            yield bucket, seconds
