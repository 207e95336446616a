"""The status of one (group, topic, partition): the first rule that holds."""

from __future__ import annotations

from typing import NamedTuple

from tests.reference.fold.lag_facts import Facts
from tests.reference.fold.log_ends import Row
from tests.reference.fold.presence import Moment


class Limits(NamedTuple):
    """In seconds; and how many points of a round may each be a row."""

    stalled_after_s: int = 180
    warn_after_s: int = 300
    unowned_after_s: int = 10
    abandoned_after_s: int = 604_800
    point_s: float = 60
    points_per_round: int = 5000


def judge(facts: Facts, columns: Row, former: Row, moments: list[Moment], limits: Limits) -> Row:
    """status and status_since."""
    status, since = _find(facts, columns, moments, limits)
    if status == "OK":
        at = moments[-1].event.observed_at_ms
        since = former["status_since"] if former["status"] == "OK" else at
    return {"status": status, "status_since": since}


def _find(
    facts: Facts, columns: Row, moments: list[Moment], limits: Limits
) -> tuple[str | None, int | None]:
    at = moments[-1].event.observed_at_ms
    lag, committed = columns["lag"], columns["committed_offset"]
    is_behind = lag is not None and lag > 0
    is_owned = facts.subject in moments[-1].owners
    left_ms, unowned_ms = facts.find_left_ms(moments), facts.find_unowned_ms(moments)
    stuck_ms = max(facts.progress_ms, facts.lag_since_ms or 0)
    abandoned_ms = limits.abandoned_after_s * 1000

    if left_ms is not None and min(at - left_ms, at - facts.progress_ms) >= abandoned_ms:
        return "ABANDONED", left_ms
    is_known = columns["reason"] not in ("no_commit", "no_offset")
    if is_known and facts.rewound_from is not None and committed < facts.rewound_from:
        return "REWIND", facts.rewound_ms
    is_stuck = at - stuck_ms >= limits.stalled_after_s * 1000
    if left_ms is not None and is_behind:
        if facts.was_read(moments):
            return "STOPPED", max(left_ms, facts.lag_since_ms or 0)
        if is_stuck:
            # Nobody was ever seen in the group: it may well be alive.
            return "STOPPED", stuck_ms
    is_unowned = unowned_ms is not None and at - unowned_ms >= limits.unowned_after_s * 1000
    if is_unowned and columns["reason"] != "topic_gone":
        return "UNOWNED", unowned_ms
    if is_owned and is_behind and is_stuck:
        return "STALLED", stuck_ms
    is_rising = is_behind and lag > (facts.rising_lag or 0)
    if is_rising and at - facts.rising_ms >= limits.warn_after_s * 1000:
        return "WARN", facts.rising_ms
    return (None, None) if lag is None else ("OK", None)
