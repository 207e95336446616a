"""What begins a rebalance of a ZooKeeper group, and what a gap makes of it (docs/rebalances.md)."""

from __future__ import annotations

import pytest

from tests.streaming.fold.group_log import GroupLog, fold
from tests.streaming.fold.settled_group import FAIL, QUIET, only, pair, pick, settle


@pytest.mark.parametrize("owners_first", [True, False])
def test_a_session_that_ends_is_the_trigger_whatever_goes_first(owners_first: bool) -> None:
    log = pair()
    log.join("g_b")
    log.release(2, 3)
    log.claim("g_b", 2, 3)
    log.wait(60_000)
    log.leave("g_b", 2, 3, owners_first=owners_first)
    log.release(0, 1)
    log.claim("g_a", 0, 1, 2, 3)
    row = only(log, skip=2)
    assert pick(row, "trigger", "trigger_member_id", "triggers") == [
        *("session_ended", "g_b", ["session_ended"])
    ]
    assert pick(row, "members_before", "members_after", "moved", "reacquired") == [2, 1, 2, 2]


def test_a_member_deleted_by_hand_has_left() -> None:
    log = pair()
    log.join("g_b")
    log.drop("consumer", "/consumers/g/ids/g_b")
    row = only(log)
    assert row["triggers"] == ["member_joined", "member_left"]
    assert pick(row, "attempts", "partitions", "outcome") == [0, 4, "settled"]
    assert row["valid_to_seq"] == row["seen_seq"]


@pytest.mark.parametrize(
    ("partitions", "trigger"), [(5, "partitions_added"), (4, "topic_changed"), (3, "topic_changed")]
)
def test_a_write_of_a_topic_makes_its_group_rebalance(partitions: int, trigger: str) -> None:
    log = pair()
    log.topic("t", partitions, op="set")
    log.topic("other", 1)
    log.release(0, 1, 2, 3, after_ms=2000)
    log.claim("g_a", *range(partitions))
    row = only(log)
    assert pick(row, "trigger", "trigger_topic", "partitions") == [trigger, "t", partitions]
    assert row["valid_from_seq"] == 7
    assert row["reacquired"] == min(partitions, 4)


def test_a_write_that_nobody_reacts_to_is_no_rebalance() -> None:
    log = pair()
    log.topic("t", 4, op="set")
    ended, (row,) = fold(log)
    assert pick(row, "trigger", "outcome", "is_open", "members_after") == [
        *("topic_changed", "ongoing", True, None)
    ]
    log.wait(FAIL)
    assert fold(log) == (ended, [])


def test_owners_may_react_late_to_a_write() -> None:
    log = pair(1)
    log.topic("t", 1, op="set")
    log.release(0, after_ms=FAIL - 1)
    log.claim("g_a", 0)
    assert pick(only(log), "trigger", "reacquired") == ["topic_changed", 1]
    log = pair(1)
    log.topic("t", 1, op="set")
    log.release(0, after_ms=FAIL)
    log.claim("g_a", 0)
    assert pick(only(log), "trigger", "trigger_member_id") == ["owner_released", "g_a"]


def test_a_later_trigger_replaces_a_write_that_nobody_reacted_to() -> None:
    log = pair(1)
    log.topic("t", 1, op="set")
    log.join("g_b", after_ms=QUIET)
    assert only(log)["triggers"] == ["topic_changed", "member_joined"]
    log = pair(1)
    log.topic("t", 1, op="set")
    log.join("g_b", after_ms=QUIET + 1)
    assert only(log)["triggers"] == ["member_joined"]


def test_releases_without_a_trigger_are_one_all_the_same() -> None:
    log = pair(2)
    log.release(0, 1)
    log.claim("g_a", 0, 1)
    row = only(log)
    assert pick(row, "trigger", "triggers", "trigger_member_id") == [
        *("owner_released", ["owner_released"], "g_a")
    ]
    log = pair(2)
    log.claim("g_a", 7)
    assert pick(only(log), "trigger", "trigger_member_id") == ["unknown", None]


def test_a_trigger_that_comes_later_explains_the_release() -> None:
    log = pair(2)
    log.release(0)
    log.join("g_b")
    log.claim("g_b", 0)
    row = only(log)
    assert pick(row, "trigger", "triggers", "trigger_member_id") == [
        *("member_joined", ["member_joined"], "g_b")
    ]
    assert row["valid_from_seq"] == 5


def test_topics_that_a_wildcard_takes_in() -> None:
    log = GroupLog()
    log.topic("ord-1", 1)
    log.join("g_a", "ord.*", "white_list")
    log.claim("g_a", 0, topic="ord-1")
    log.wait(60_000)
    log.topic("ord-2", 2)
    log.topic("bills", 2)
    log.claim("g_a", 0, 1, topic="ord-2")
    log.wait(60_000)
    log.drop_topic("ord-2")
    ended, _ = fold(settle(log))
    assert [pick(r, "trigger", "trigger_topic", "partitions", "outcome") for r in ended[1:]] == [
        ["topic_matched", "ord-2", 3, "settled"],
        ["topic_matched", "ord-2", 1, "settled"],
    ]


def test_a_topic_that_a_member_names_goes_and_nobody_cares() -> None:
    """The old consumer's watch of a topic's data passes over a delete."""
    log = pair()
    log.drop_topic("t")
    ended, (row,) = fold(log)
    assert pick(row, "trigger", "trigger_topic", "outcome") == ["topic_changed", "t", "ongoing"]
    assert fold(settle(log)) == (ended, [])


def test_a_topic_that_a_member_names_comes() -> None:
    log = pair(1)
    log.drop_topic("t")
    log.wait(60_000)
    log.topic("t", 2)
    log.release(0)
    log.claim("g_a", 0, 1)
    row = only(log)
    assert pick(row, "trigger", "trigger_topic", "partitions") == ["topic_changed", "t", 2]


def test_owners_may_react_to_a_topic_that_is_gone() -> None:
    log = pair(1)
    log.drop_topic("t")
    log.release(0, after_ms=FAIL - 1)
    assert pick(only(log), "triggers", "partitions", "outcome") == [["topic_changed"], 0, "settled"]


def test_one_wildcard_is_enough_for_a_topic_that_goes() -> None:
    log = pair(1)
    log.join("g_w", "t|u", "white_list")
    log.wait(60_000)
    log.drop_topic("t")
    ended, _ = fold(settle(log))
    assert pick(ended[-1], "trigger", "trigger_topic") == ["topic_matched", "t"]


def test_a_frame_that_misses_a_topic_that_a_member_names_shows_no_rebalance() -> None:
    log = pair(1)
    begin = len(log.events)
    log.join("g_a", op="read", is_same=True)
    log.claim("g_a", 0, op="read", is_same=True)
    log.in_sync(closes_from=begin)
    assert len(fold(settle(log))[0]) == 1


def test_a_black_list_takes_in_all_others() -> None:
    log = GroupLog()
    log.topic("__consumer_offsets", 50)
    log.topic("tmp-1", 3)
    log.topic("t", 2)
    log.join("g_a", "tmp.*", "black_list")
    log.claim("g_a", 0, 1)
    assert pick(only(log, skip=0), "partitions", "outcome") == [2, "settled"]


def test_nothing_is_decided_while_the_watcher_is_blind() -> None:
    log = pair(2)
    log.join("g_b")
    log.release(0)
    log.gap(after_ms=60_000)
    log.drop("consumer", "/consumers/g/ids/g_b", origin="resync")
    assert len(fold(log)[1]) == 1
    log.claim("g_a", 0, origin="resync")
    log.in_sync()
    row = only(log)
    assert row["triggers"] == ["member_joined", "member_left"]
    assert pick(row, "outcome", "unowned_ms", "unowned") == ["settled", None, None]


def test_what_a_resync_finds_is_one_rebalance() -> None:
    log = pair(2)
    log.gap(after_ms=60_000)
    log.drop("consumer", "/consumers/g/ids/g_a", origin="resync")
    log.release(0, 1, origin="resync")
    log.join("g_b", origin="resync", after_ms=20_000)
    log.claim("g_b", 0, 1, origin="resync")
    log.in_sync()
    row = only(log)
    assert pick(row, "trigger", "members_before", "members_after", "moved") == [
        *("member_left", 1, 1, 2)
    ]


def test_a_group_that_a_gap_emptied_ends_at_the_sync() -> None:
    log = pair(2)
    log.gap()
    log.drop("consumer", "/consumers/g/ids/g_a", origin="resync")
    log.release(0, 1, origin="resync")
    log.in_sync()
    ended, open_rows = fold(log)
    assert open_rows == []
    assert pick(ended[1], "members_after", "left_unowned", "partitions") == [0, 2, 0]


def test_first_sight_is_no_rebalance() -> None:
    log = GroupLog()
    log.gap()
    log.topic("t", 2, op="read", origin="scan")
    log.join("g_a", op="read", origin="scan")
    log.claim("g_a", 0, 1, op="read", origin="scan")
    log.in_sync(closes_from=0)
    assert fold(settle(log)) == ([], [])


def test_a_frame_that_misses_a_member_begins_one_of_unknown_trigger() -> None:
    log = pair(1)
    log.join("g_b")
    log.wait(60_000)
    begin = len(log.events)
    log.topic("t", 1, op="read", is_same=True)
    log.claim("g_a", 0, op="read", is_same=True)
    log.in_sync(closes_from=begin)
    row = only(log, skip=2)
    assert pick(row, "trigger", "members_before", "members_after", "valid_from_zxid") == [
        *("unknown", 2, 0, None)
    ]
