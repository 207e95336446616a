"""Burrow's own evaluation of a group, for any moment, from history: for those who come from it.

Its rules are those of linkedin/Burrow's core/internal/evaluator/caching.go; ours are others
(docs/status.md). Pure: dashboard/dialects/burrow/reading.py brings the history.
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
    """A slot of the window; lag is that of the moment it came, and stays so; None: not known."""

    offset: int
    at_ms: int
    lag: int | None


@dataclass(frozen=True)
class LogEnd:
    """A log end offset at a moment: a point of a curve that is straight between its points."""

    at_ms: int
    offset: int


@dataclass(frozen=True)
class Owner:
    """Who has a partition; a client id is known of Kafka's own consumers only."""

    name: str = ""
    client_id: str = ""


@dataclass(frozen=True)
class PartitionStatus:
    """One partition of a group; start and end are the first and the last commit of the window."""

    topic: str
    partition: int
    owner: Owner
    status: Status
    complete: float
    current_lag: int
    window: tuple[Commit, ...]

    @property
    def start(self) -> Commit | None:
        """The oldest commit of the window."""
        return self.window[0] if self.window else None

    @property
    def end(self) -> Commit | None:
        """The last commit."""
        return self.window[-1] if self.window else None


@dataclass(frozen=True)
class GroupStatus:
    """A group; the worst of its partitions, as Burrow folds them. It knows no coordinator."""

    cluster: str
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
    owner: Owner
    # (offset, ms) of every commit, in the order of the log.
    commits: Sequence[tuple[int, int]]
    log_ends: Sequence[LogEnd]


def fill_slots(commits: Iterable[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """The last commits, as Burrow keeps them: one that comes too soon takes over a slot."""
    slots: list[tuple[int, int]] = []
    for offset, at_ms in commits:
        if slots and at_ms - slots[-1][1] < rules.min_distance_s * 1000:
            slots[-1] = (offset, slots[-1][1])
        else:
            slots.append((offset, at_ms))
    return slots[-rules.intervals :]


def fill_window(history: History, rules: Rules) -> tuple[Commit, ...]:
    """The last commits, each with the lag of its moment."""
    if not history.log_ends:
        return ()  # it drops commits of topics whose end it does not know
    return tuple(
        Commit(offset, at_ms, _find_lag(history.log_ends, offset, at_ms))
        for offset, at_ms in fill_slots(history.commits, rules)
    )


def _find_lag(log_ends: Sequence[LogEnd], offset: int, at_ms: int) -> int | None:
    end = find_log_end(log_ends, at_ms)
    return None if end is None else max(0, end - offset)


def find_log_end(log_ends: Sequence[LogEnd], at_ms: int) -> int | None:
    """The end at a moment; after the last point it is that one's."""
    place = bisect_right(log_ends, at_ms, key=lambda end: end.at_ms)
    if not 0 < place < len(log_ends):
        return log_ends[-1].offset if place else None
    before, after = log_ends[place - 1], log_ends[place]
    grown = (after.offset - before.offset) * (at_ms - before.at_ms)
    return before.offset + grown // (after.at_ms - before.at_ms)


def _find_end(log_ends: Sequence[LogEnd], at_ms: int) -> int:
    end = find_log_end(log_ends, at_ms)
    return log_ends[0].offset if end is None else end


def list_recent_ends(log_ends: Sequence[LogEnd], now_ms: int, rules: Rules) -> list[int]:
    """The ring of ends that Burrow would hold, oldest first."""
    times = (now_ms - rules.offset_refresh_s * 1000 * n for n in range(rules.intervals))
    ends = [find_log_end(log_ends, at_ms) for at_ms in times]
    return [end for end in reversed(ends) if end is not None]


def evaluate_partition(history: History, now_ms: int, rules: Rules) -> PartitionStatus:
    """Its status at a moment."""
    window = fill_window(history, rules)
    ring = list_recent_ends(history.log_ends, now_ms, rules)
    lag = max(0, _find_end(history.log_ends, now_ms) - window[-1].offset) if window else 0
    complete = min(1.0, len(window) / rules.intervals)
    status: Status = "OK"
    if window and complete >= rules.minimum_complete:
        status = judge(window, ring, lag, now_ms, rules.allowed_lag)
    place = (history.topic, history.partition, history.owner)
    return PartitionStatus(*place, status, complete, lag, window)


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
    cluster: str, group_id: str, histories: Sequence[History], now_ms: int, rules: Rules
) -> GroupStatus:
    """A group at a moment; a partition without commits is one of its topics', and counts."""
    last_ms = [history.commits[-1][1] for history in histories if history.commits]
    if not last_ms or now_ms - max(last_ms) > rules.expire_group_s * 1000:
        return GroupStatus(cluster, group_id, "NOTFOUND", 1.0, 0, None, ())
    partitions = tuple(evaluate_partition(history, now_ms, rules) for history in histories)
    worst = max((one.status for one in partitions), key=lambda status: STATUS_CODES[status])
    return GroupStatus(
        cluster,
        group_id,
        "ERR" if STATUS_CODES[worst] > STATUS_CODES["ERR"] else worst,
        sum(one.complete == 1 for one in partitions) / len(partitions),
        sum(one.current_lag for one in partitions),
        max(partitions, key=lambda one: one.current_lag),
        partitions,
    )
