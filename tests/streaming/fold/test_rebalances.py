"""Rebalances of ZooKeeper groups: how they end, and what they cost (docs/rebalances.md)."""

from __future__ import annotations

import pytest

from tests.streaming.fold.group_log import START_MS, GroupLog, fold
from tests.streaming.fold.settled_group import FAIL, QUIET, only, pair, pick, settle


def test_the_first_member_of_a_group_joins_and_claims() -> None:
    log = GroupLog()
    log.topic("t", 2)
    log.join("g_a", after_ms=500)
    log.claim("g_a", 1, 0, after_ms=100)
    row = only(log, skip=0)
    assert pick(row, "trigger", "trigger_member_id", "triggers", "trigger_topic") == [
        *("member_joined", "g_a", ["member_joined"]),
        None,
    ]
    assert pick(row, "members_before", "members_after", "attempts", "conflicts") == [0, 1, 1, 0]
    assert pick(row, "partitions", "moved", "reacquired", "left_unowned") == [2, 0, 0, 0]
    assert pick(row, "unowned_ms", "max_unowned_ms", "unowned") == [0, 0, {}]
    assert pick(row, "valid_from_seq", "valid_to_seq", "seen_seq") == [1, 3, 3]
    assert pick(row, "valid_from_at", "duration_ms") == [START_MS + 510, 200]
    assert pick(row, "outcome", "ended_by", "is_open", "fold_state", "generation") == [
        *("settled", "settled", False, None, None)
    ]


def test_a_second_member_takes_over_half() -> None:
    log = pair()
    log.join("g_b")
    log.release(0, 1, 2, 3)
    log.claim("g_a", 1, 0)
    log.claim("g_b", 2, 3)
    row = only(log)
    assert pick(row, "moved", "reacquired", "partitions", "attempts") == [2, 2, 4, 1]
    assert row["unowned"] == {"t-0": 50, "t-1": 30, "t-2": 40, "t-3": 40}
    assert pick(row, "unowned_ms", "max_unowned_ms") == [160, 50]


def test_partitions_that_nobody_claims_are_a_failed_rebalance() -> None:
    log = pair()
    log.topic("t", 6, op="set")
    row = only(log)
    assert pick(row, "outcome", "ended_by", "left_unowned", "partitions") == [
        *("failed", "failed", 2, 6)
    ]
    assert row["valid_to_seq"] == row["valid_from_seq"]


def test_a_zombie_leaves_partitions_unowned_until_the_end() -> None:
    log = pair(2)
    log.join("g_b")
    log.release(0, 1)
    log.claim("g_a", 0)
    log.wait(FAIL - 1)
    assert len(fold(log)[1]) == 1
    log.wait(1)
    ended, open_rows = fold(log)
    assert open_rows == []
    assert pick(ended[1], "outcome", "left_unowned", "unowned") == [
        *("failed", 1, {"t-0": 20, "t-1": 10})
    ]


@pytest.mark.parametrize("skew_ms", [0, 3000, -3000])
def test_times_without_an_owner_are_by_one_clock(skew_ms: int) -> None:
    """A delete bears no time of ZooKeeper's: both ends are when the watcher saw them."""
    log = pair(3)
    log.topic("t", 2, op="set")
    log.release(0, 1, 2)
    log.skew_ms = skew_ms
    log.claim("g_a", 0, 1, after_ms=400)
    row = only(log)
    # Partition 2 is no longer there: nobody missed it after the last claim.
    assert row["unowned"] == {"t-0": 420, "t-1": 810, "t-2": 800}
    assert pick(row, "unowned_ms", "max_unowned_ms", "outcome") == [2030, 810, "settled"]


def test_it_goes_on_while_something_happens_within_the_quiet_time() -> None:
    log = pair(1)
    log.join("g_b")
    log.release(0, after_ms=QUIET)
    log.claim("g_a", 0)
    assert pick(only(log), "trigger", "reacquired") == ["member_joined", 1]
    log = pair(1)
    log.join("g_b")
    log.release(0, after_ms=QUIET + 1)
    log.claim("g_a", 0)
    rows, _ = fold(settle(log))
    assert [row["trigger"] for row in rows[1:]] == ["member_joined", "owner_released"]


def test_what_is_not_settled_is_waited_for() -> None:
    log = pair(1)
    log.join("g_b")
    log.release(0)
    log.claim("g_b", 0, after_ms=FAIL - 1)
    assert pick(only(log), "moved", "unowned_ms", "outcome") == [1, FAIL - 1, "settled"]


def test_rounds_and_claims_given_back_are_counted() -> None:
    log = pair(2)
    log.join("g_b")
    for _ in range(3):
        log.claim("g_b", 5, after_ms=2000)
        log.release(5)
    log.release(0, 1)
    log.claim("g_a", 0)
    log.claim("g_b", 1, after_ms=2000)
    assert pick(only(log), "attempts", "conflicts", "partitions") == [4, 3, 2]


def test_what_is_given_back_for_a_trigger_or_claimed_at_once_is_no_conflict() -> None:
    log = pair(2)
    log.join("g_b")
    log.release(0, 1)
    log.claim("g_a", 0, 1)
    log.join("g_c")
    log.release(0, 1)
    log.claim("g_a", 0, 1)
    log.release(0, 1)
    log.claim("g_a", 0)
    log.claim("g_b", 1)
    assert pick(only(log), "attempts", "conflicts", "moved") == [3, 0, 1]


def test_a_claim_given_back_for_good_is_a_conflict() -> None:
    log = pair(2)
    log.join("g_b")
    log.release(1)
    log.claim("g_b", 1)
    log.release(1)
    assert pick(only(log), "conflicts", "outcome", "left_unowned") == [1, "failed", 1]


def test_the_last_member_ends_it_at_once() -> None:
    log = pair()
    log.leave("g_a", 0, 1, 2, 3)
    ended, open_rows = fold(log)
    assert open_rows == []
    row = ended[1]
    assert pick(row, "trigger", "members_before", "members_after") == ["session_ended", 1, 0]
    assert pick(row, "outcome", "partitions", "left_unowned") == ["settled", 0, 4]
    assert len(fold(settle(log))[0]) == 2


def test_of_an_unknown_subscription_what_was_owned_is_expected() -> None:
    log = pair(3)
    log.join("g_b", r"(a)\1", "white_list")
    log.release(0, 1)
    log.claim("g_b", 0)
    row = only(log)
    assert pick(row, "outcome", "partitions", "left_unowned") == ["failed", 3, 1]
    log = GroupLog()
    log.topic("t", 3)
    log.join("g_b", data="{")
    log.claim("g_b", 0)
    assert pick(only(log, skip=0), "outcome", "partitions") == ["settled", 0]


def test_an_owner_must_be_a_member() -> None:
    log = pair(2)
    log.join("g_b")
    log.release(1)
    log.claim("g_z", 1)
    assert pick(only(log), "outcome", "left_unowned") == ["failed", 0]


def test_owners_of_a_member_that_comes_back_count_once() -> None:
    log = pair(2)
    log.drop("consumer", "/consumers/g/ids/g_a")
    log.wait(60_000)
    log.join("g_a")
    log.release(0)
    assert pick(only(log, skip=2), "outcome", "left_unowned") == ["failed", 1]


def test_rows_do_not_depend_on_when_they_are_taken() -> None:
    log = pair()
    log.join("g_b")
    log.release(0, 1, 2, 3)
    log.claim("g_a", 1, 0)
    log.topic("t", 4, op="set", after_ms=QUIET)
    log.claim("g_b", 2, 3)
    log.leave("g_a", 0, 1)
    settle(log)
    assert fold(log, takes_each=True) == fold(log)
