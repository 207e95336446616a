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
    # What the standing row began with is past once it has told something else.
    past, standing = [], []
    for row in known:
        first, last = _first(row), _last(row)
        if row["is_open"]:
            past += [first] if first.end != last.end else []
            standing.append(last)
        else:
            past += [first, last]
    return _rise([*_keep(_leave_minutes(_rise(past)), at), *standing])


def _first(row: Row) -> Point:
    times = (row["sampled_at"], row["confirmed_at"])
    return Point(row["log_end_offset"], *times, row["incarnation"])


def _last(row: Row) -> Point:
    times = (row["sampled_at_last"], row["confirmed_at_last"])
    return Point(row["log_end_offset_last"], *times, row["incarnation"])


def _leave_minutes(points: list[Point]) -> list[Point]:
    """Of each minute the last, and the first where nothing was known in the ten before."""
    left: list[Point] = []
    for point in points:
        minute = point.first_ms // _MINUTE * _MINUTE
        if len(left) > 1 and left[-1].first_ms >= minute:
            is_near = left[-2].last_ms >= minute - 10 * _MINUTE
            if is_near:
                left.pop()
        left.append(point)
    return left


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
