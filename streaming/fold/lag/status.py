"""The status of a group's partition: docs/status.md has the rules in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from streaming.fold.lag.group_partition import Facts, GroupPartition

TOPIC_GONE = "topic_gone"
_NO_OFFSET = ("no_commit", "no_offset")


@dataclass(frozen=True)
class Thresholds:
    """How long something must last, and how many points there may be; see the settings of [lag]."""

    stalled_after_ms: int = 180_000
    warn_after_ms: int = 300_000
    unowned_after_ms: int = 10_000
    abandoned_after_ms: int = 604_800_000
    point_ms: int = 60_000
    points_per_round: int = 5_000
    pause_after_ms: int = 30_000


class Status(msgspec.Struct, frozen=True, gc=False):
    """A status, and since when its cause holds."""

    name: str | None
    since_ms: int | None


def follow_lag(facts: Facts, lag: int | None, former: int | None, at_ms: int) -> None:
    """Since when there is lag, and since when it does not fall; `former`: the lag before."""
    if lag:
        facts.lag_since_ms = at_ms if facts.lag_since_ms is None else facts.lag_since_ms
    elif lag == 0:
        facts.lag_since_ms = None
    if not lag or former is None or lag < former:
        facts.rising_ms, facts.rising_lag = at_ms, lag


def judge(
    group_partition: GroupPartition,
    facts: Facts,
    lag: int | None,
    *,
    reason: str | None,
    at_ms: int,
    t: Thresholds,
) -> Status:
    """The first rule that holds. A null lag is neither 0 nor above."""
    is_live = group_partition.is_live
    if not is_live and _is_abandoned(facts, at_ms, t):
        return Status("ABANDONED", facts.left_ms)
    if facts.rewound_from is not None and reason not in _NO_OFFSET:
        return Status("REWIND", facts.rewound_ms)
    if not is_live and lag and (since := _find_stop(facts, at_ms, t)) is not None:
        return Status("STOPPED", since)
    if is_live and group_partition.is_unowned and reason != TOPIC_GONE:
        unowned_ms = at_ms if facts.unowned_ms is None else facts.unowned_ms
        if at_ms - unowned_ms >= t.unowned_after_ms:
            return Status("UNOWNED", unowned_ms)
    return _judge_lag(group_partition, facts, lag, at_ms, t)


def _judge_lag(
    group_partition: GroupPartition, facts: Facts, lag: int | None, at_ms: int, t: Thresholds
) -> Status:
    if lag is None:
        return Status(None, None)
    if lag and group_partition.has_owner and at_ms - _find_still(facts) >= t.stalled_after_ms:
        return Status("STALLED", _find_still(facts))
    if lag > (facts.rising_lag or 0) and at_ms - facts.rising_ms >= t.warn_after_ms:
        return Status("WARN", facts.rising_ms)
    former = group_partition.point
    if former is not None and former.status == "OK":
        return Status("OK", former.status_since)
    return Status("OK", at_ms)


def _find_still(facts: Facts) -> int:
    """Since when there is lag, and no progress."""
    since_ms = facts.lag_since_ms or 0
    return since_ms if since_ms > facts.progress_ms else facts.progress_ms


def _find_stop(facts: Facts, at_ms: int, t: Thresholds) -> int | None:
    """Since when nobody works; where nobody was ever seen, silence must decide."""
    if facts.is_peopled:
        return max(facts.left_ms or 0, facts.lag_since_ms or 0)
    still_ms = _find_still(facts)
    return still_ms if at_ms - still_ms >= t.stalled_after_ms else None


def _is_abandoned(facts: Facts, at_ms: int, t: Thresholds) -> bool:
    if facts.left_ms is None:
        return False
    return at_ms - max(facts.left_ms, facts.progress_ms) >= t.abandoned_after_ms


def find_next_change(facts: Facts, at_ms: int, t: Thresholds) -> int:
    """Before when no status comes by time alone."""
    # Of what is to come the first; written out, for it is asked of each at each round.
    first_ms = at_ms + t.abandoned_after_ms
    due_ms = _find_still(facts) + t.stalled_after_ms
    if at_ms < due_ms < first_ms:
        first_ms = due_ms
    due_ms = facts.rising_ms + t.warn_after_ms
    if at_ms < due_ms < first_ms:
        first_ms = due_ms
    if facts.left_ms is not None:
        due_ms = max(facts.left_ms, facts.progress_ms) + t.abandoned_after_ms
        if at_ms < due_ms < first_ms:
            first_ms = due_ms
    if facts.unowned_ms is not None:
        due_ms = facts.unowned_ms + t.unowned_after_ms
        if at_ms < due_ms < first_ms:
            first_ms = due_ms
    return first_ms
