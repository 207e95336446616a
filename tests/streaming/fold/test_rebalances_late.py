"""Conflicts are counted by ZooKeeper's clock: a watcher under load sees changes late."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

from tests.streaming.fold.group_log import GroupLog, fold
from tests.streaming.fold.lateness import delay
from tests.streaming.fold.settled_group import only, pair, pick, settle
from zklake.events.envelope import Stat

# What the old consumer waits after a failed try, and what it needs for an extra round.
BACKOFF_MS, ROUND_MS = 2000, 40
# Less than this is no backoff.
EXTRA_ROUND_MS = 1000
skews = pytest.mark.parametrize("skew_ms", [0, 3000, -3000])


def begin(skew_ms: int = 0) -> GroupLog:
    """`g_b` joins a group of `g_a`, claims 2 and 3, and is about to give them back."""
    log = pair()
    log.skew_ms = skew_ms
    log.join("g_b")
    log.release(0, 1, 2, 3)
    log.claim("g_a", 0, 1)
    log.claim("g_b", 2, 3)
    return log


@skews
def test_an_extra_round_that_is_seen_late_is_no_conflict(skew_ms: int) -> None:
    log = begin(skew_ms)
    log.release(2, 3)
    log.late_ms = 1500
    log.claim("g_b", 2, 3)
    assert pick(only(log), "attempts", "conflicts", "outcome") == [2, 0, "settled"]


@skews
def test_a_failed_try_that_is_seen_late_is_a_conflict(skew_ms: int) -> None:
    log = begin(skew_ms)
    log.late_ms = 1500
    log.release(2, 3)
    # Between the two something bears ZooKeeper's time.
    log.claim("g_a", 5)
    log.late_ms = 0
    log.claim("g_b", 2, 3, after_ms=BACKOFF_MS)
    assert pick(only(log), "attempts", "conflicts") == [2, 2]


@skews
def test_what_nobody_can_tell_is_not_counted(skew_ms: int) -> None:
    """The release was seen after the claim had been made: it may have been right before it."""
    log = begin(skew_ms)
    log.late_ms = 1500
    log.release(2, 3)
    log.late_ms = 0
    log.claim("g_b", 2, 3, after_ms=BACKOFF_MS)
    assert pick(only(log), "attempts", "conflicts") == [2, 0]


@pytest.mark.parametrize(("after_ms", "conflicts"), [(ROUND_MS, 0), (BACKOFF_MS, 2)])
def test_a_claim_that_nobody_could_read_may_be_an_extra_round(
    after_ms: int, conflicts: int
) -> None:
    log = begin()
    log.release(2, 3)
    path = "/consumers/g/owners/t/2"
    unread = {"kind": "owner", "path": path, "fidelity": "superseded", "origin": "watch"}
    log.say("create", after_ms, stat=Stat(czxid=len(log.events), version=0), **unread)
    log.release(2)
    log.claim("g_b", 2, 3, after_ms=BACKOFF_MS)
    assert only(log)["conflicts"] == conflicts


class Squabble(NamedTuple):
    """A log, how many of its events come before the quarrel, and the conflicts there were."""

    log: GroupLog
    calm: int
    conflicts: int


def quarrel(dice: Random) -> Squabble:
    """Three members claim and give back, each its own: failed tries and extra rounds in one."""
    log = GroupLog()
    log.topic("t", 7)
    members = ["g_a", "g_b", "g_c"]
    for member in members:
        log.join(member)
    calm, given, conflicts = len(log.events), dict[str, int](), 0
    for _ in range(12):
        number = dice.randrange(3)
        own = (2 * number, 2 * number + 1)
        log.claim(members[number], *own)
        if members[number] in given:
            waited_ms = log.now_ms - 10 - given[members[number]]
            conflicts += 2 * (waited_ms >= EXTRA_ROUND_MS)
        log.release(*own)
        given[members[number]] = log.now_ms
        log.now_ms += dice.choice((ROUND_MS, ROUND_MS, 300, BACKOFF_MS))
    return Squabble(settle(log), calm, conflicts + 2 * len(given))


def test_however_late_it_is_seen_no_conflict_is_made_up() -> None:
    true = counted = 0
    for seed in range(200):
        dice = Random(seed)
        log, calm, conflicts = quarrel(dice)
        prompt, _ = fold(log)
        assert [row["conflicts"] for row in prompt] == [conflicts]
        log.events[calm:] = delay(log.events[calm:], dice, 2400)
        late, _ = fold(log)
        assert [row["attempts"] for row in late] == [row["attempts"] for row in prompt]
        assert late[0]["conflicts"] <= conflicts, seed
        true, counted = true + conflicts, counted + late[0]["conflicts"]
    # A lower bound, but not an idle one.
    assert counted > 0.9 * true
