"""The curve of a partition: when its log grew to where, as the rows of log_ends remember it."""

from __future__ import annotations

from typing import Any, NamedTuple

Row = dict[str, Any]

_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_KEY = ("topic", "partition")


class Point(NamedTuple):
    """When a log's end came to lie here, and until when it did."""

    end: int
    first_ms: int
    last_ms: int
    incarnation: int | None


def draw_curve(rows: list[Row], named: Row, at: int) -> list[Point]:
    """What is remembered at a time of how one partition's log grew: the standing row is last."""
    of_one = [row for row in rows if all(row[name] == named[name] for name in _KEY)]
    known = [row for row in of_one if row["log_end_offset"] is not None]
    closed = _keep(_rise([_point(row) for row in known if not row["is_open"]]), at)
    return _rise([*closed, *(_point(row) for row in known if row["is_open"])])


def _point(row: Row) -> Point:
    times = (row["sampled_at"], row["confirmed_at"])
    return Point(row["log_end_offset"], *times, row["incarnation"])


def _rise(points: list[Point]) -> list[Point]:
    risen: list[Point] = []
    for point in points:
        last = risen[-1] if risen else None
        if last is None or point.incarnation != last.incarnation or point.end < last.end:
            risen = [point]
        elif point.end == last.end:
            risen[-1] = last._replace(last_ms=point.last_ms)
        else:
            risen.append(point)
    return risen


def _keep(points: list[Point], at: int) -> list[Point]:
    """Fewer with age: the last of each 10 minutes, then of each hour, then none."""
    hour = at // _HOUR * _HOUR
    kept = []
    for number, point in enumerate(points):
        is_old, is_older = point.first_ms < hour - _HOUR, point.first_ms < hour - _DAY
        width = _HOUR if is_older else 10 * _MINUTE
        bucket = point.first_ms // width
        is_last = all(later.first_ms // width != bucket for later in points[number + 1 :])
        if point.last_ms >= hour - 14 * _DAY and (not is_old or is_last):
            kept.append(point)
    return kept
