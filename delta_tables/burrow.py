"""Burrow's own evaluation of a group, for any moment, from history: for those who come from it.

Its rules are those of linkedin/Burrow's core/internal/evaluator/caching.go; ours are others
(docs/status.md). Pure: delta_tables/burrow_reading.py brings the history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Status = Literal["NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"]
# Burrow's numbers for them, as in its metrics.
STATUS_CODES: dict[Status, int] = {
    "NOTFOUND": 0,
    "OK": 1,
    "WARN": 2,
    "ERR": 3,
    "STOP": 4,
    "STALL": 5,
    "REWIND": 6,
}


@dataclass(frozen=True)
class Rules:
    """Burrow's settings, under its names, with its defaults."""

    intervals: int = 10
    min_distance_s: int = 1
    expire_group_s: int = 604_800
    offset_refresh_s: int = 10
    minimum_complete: float = 0.0
    allowed_lag: int = 0


@dataclass(frozen=True)
class Commit:
    """A slot of the window; lag is that of the moment it came, and stays so."""

    offset: int
    at_ms: int
    lag: int | None


@dataclass(frozen=True)
class LogEnd:
    """A log end offset, from when on it was known."""

    at_ms: int
    offset: int


@dataclass(frozen=True)
class PartitionStatus:
    """One partition of a group; start and end are the first and the last commit of the window."""

    topic: str
    partition: int
    owner: str
    status: Status
    complete: float
    current_lag: int
    start: Commit | None
    end: Commit | None
    window: tuple[Commit, ...]


@dataclass(frozen=True)
class GroupStatus:
    """A group; the worst of its partitions, as Burrow folds them."""

    cluster: str
    coordinator: str
    group_id: str
    status: Status
    complete: float
    total_lag: int
    max_lag: PartitionStatus | None
    partitions: tuple[PartitionStatus, ...]


@dataclass(frozen=True)
class History:
    """What is known of one partition up to a moment, oldest first."""

    topic: str
    partition: int
    owner: str
    # (offset, ms) of every commit, in the order of the log.
    commits: Sequence[tuple[int, int]]
    log_ends: Sequence[LogEnd]


def fill_window(history: History, rules: Rules) -> tuple[Commit, ...]:
    """The last commits, as Burrow keeps them."""
    slots: list[Commit] = []
    for offset, at_ms in history.commits:
        end = find_log_end(history.log_ends, at_ms)
        if end is None:
            continue  # it drops commits of topics whose end it does not know yet
        lag = max(0, end - offset)
        if slots and at_ms - slots[-1].at_ms < rules.min_distance_s * 1000:
            slots[-1] = Commit(offset, slots[-1].at_ms, lag)
        else:
            slots.append(Commit(offset, at_ms, lag))
    return tuple(slots[-rules.intervals :])


def find_log_end(log_ends: Sequence[LogEnd], at_ms: int) -> int | None:
    """The end as it was known at a moment."""
    place = bisect_right(log_ends, at_ms, key=lambda end: end.at_ms)
    return log_ends[place - 1].offset if place else None


def list_recent_ends(log_ends: Sequence[LogEnd], now_ms: int, rules: Rules) -> list[int]:
    """The ring of ends that Burrow would hold, oldest first."""
    times = (now_ms - rules.offset_refresh_s * 1000 * n for n in range(rules.intervals))
    ends = [find_log_end(log_ends, at_ms) for at_ms in times]
    return [end for end in reversed(ends) if end is not None]


def evaluate_partition(history: History, now_ms: int, rules: Rules) -> PartitionStatus:
    """Its status at a moment."""
    window = fill_window(history, rules)
    ring = list_recent_ends(history.log_ends, now_ms, rules)
    lag = max(0, ring[-1] - window[-1].offset) if ring and window else 0
    complete = min(1.0, len(window) / rules.intervals)
    status: Status = "OK"
    if window and complete >= rules.minimum_complete:
        status = judge(window, ring, lag, now_ms, rules.allowed_lag)
    return PartitionStatus(
        topic=history.topic,
        partition=history.partition,
        owner=history.owner,
        status=status,
        complete=complete,
        current_lag=lag,
        start=window[0] if window else None,
        end=window[-1] if window else None,
        window=window,
    )


def judge(
    window: Sequence[Commit], ring: Sequence[int], lag: int, now_ms: int, allowed_lag: int
) -> Status:
    """The rules, in their order; the window is not empty."""
    first, last = window[0], window[-1]
    lags = [commit.lag for commit in window if commit.lag is not None]
    if lag <= allowed_lag:
        return "OK"
    is_silent = now_ms - last.at_ms > last.at_ms - first.at_ms
    if is_silent and not any(end <= last.offset for end in ring):
        return "STOP"
    if _is_rewound([commit.offset for commit in window]):
        return "REWIND"
    if any(one <= allowed_lag for one in lags):
        return "OK"
    if all(commit.offset == first.offset for commit in window):
        return "STALL"
    return "WARN" if all(a <= b for a, b in pairwise(lags)) else "OK"


def _is_rewound(offsets: Sequence[int]) -> bool:
    for place in range(1, len(offsets)):
        if offsets[place] < offsets[place - 1]:
            return all(later < offsets[place - 1] for later in offsets[place:])
    return False


def evaluate_group(
    place: tuple[str, str, str], histories: Iterable[History], now_ms: int, rules: Rules
) -> GroupStatus:
    """A group at a moment; place: its cluster, coordinator and id."""
    kept = [history for history in histories if history.commits]
    newest = max((history.commits[-1][1] for history in kept), default=None)
    if newest is None or now_ms - newest > rules.expire_group_s * 1000:
        return GroupStatus(*place, "NOTFOUND", 0.0, 0, None, ())
    partitions = tuple(evaluate_partition(history, now_ms, rules) for history in kept)
    worst = max((one.status for one in partitions), key=lambda status: STATUS_CODES[status])
    return GroupStatus(
        *place,
        "ERR" if STATUS_CODES[worst] > STATUS_CODES["ERR"] else worst,
        sum(one.complete == 1 for one in partitions) / len(partitions),
        sum(one.current_lag for one in partitions),
        max(partitions, key=lambda one: one.current_lag),
        partitions,
    )
