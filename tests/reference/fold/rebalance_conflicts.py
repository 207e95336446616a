"""Claims that a group's sessions gave back because another claim of theirs was refused."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.fold.rebalance_changes import Change
from tests.reference.fold.rebalance_group import Partition, find_trigger

# Who lost a conflict waits 2 s before the next try; who only goes another round does not.
_BACKOFF_MS = 1_000


def count_conflicts(changes: Sequence[Change]) -> int:
    """Claims given back for no reason that was seen; unless all begins anew at once."""
    claimed: dict[Partition, int] = {}
    givers: dict[Partition, int] = {}
    given: dict[int, list[int]] = {}
    triggered, conflicts = -1, 0
    for number, change in enumerate(changes):
        if is_claim(change):
            giver = givers.pop(change.key, None)
            claimed[change.key] = change.event.seq
            session = change.after.session
            # Whose claim nobody could read may be of who gave the partition back.
            who = giver if session is None else session
            has_waited = who in given and _find_wait(changes, given[who][-1], number) >= _BACKOFF_MS
            if who in given and not (session is None and has_waited):
                conflicts += len(given.pop(who)) * has_waited
        elif change.what == "owner":
            is_since = claimed.pop(change.key, -1) > triggered
            session = change.before.session
            if is_since and change.cause == "event" and session is not None:
                given.setdefault(session, []).append(number)
                givers[change.key] = session
        if find_trigger(change):
            triggered = change.event.seq
    return conflicts + sum(map(len, given.values()))


def _find_wait(changes: Sequence[Change], release: int, claim: int) -> int:
    """From one change to the other; by ZooKeeper's clock, if the later one bears its time.

    The release bears none: it was when it was seen, by a clock that differs as much as the change
    that was seen soonest shows; but not after the next change that bears a time.
    """
    ended_ms = changes[claim].own_ms
    if ended_ms is None:
        return changes[claim].event.observed_at_ms - changes[release].event.observed_at_ms
    timed = [
        (number, change.event.observed_at_ms, change.own_ms)
        for number, change in enumerate(changes[: claim + 1])
        if change.own_ms is not None
    ]
    ahead_ms = min(seen - own for _, seen, own in timed)
    began_ms = changes[release].event.observed_at_ms - ahead_ms
    following = min(number for number, _, _ in timed if number > release)
    began_ms = min(began_ms, max(own for number, _, own in timed if number <= following))
    return ended_ms - began_ms


def is_claim(change: Change) -> bool:
    """Somebody took a partition."""
    return change.what == "owner" and change.kind != "went"
