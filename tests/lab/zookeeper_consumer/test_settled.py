from __future__ import annotations

from lab.zookeeper_consumer.settled import Unsettled, find_unsettled, is_settled
from lab.zookeeper_consumer.subscription import build_subscription

A = build_subscription(["t"])
TWO = {"t": [0, 1]}


def test_every_partition_owned_by_a_live_thread_is_settled() -> None:
    assert is_settled({"g_a": A, "g_b": A}, TWO, {("t", 0): "g_a-0", ("t", 1): "g_b-0"})


def test_the_rule_asks_for_no_fairness() -> None:
    assert is_settled({"g_a": A, "g_b": A}, TWO, {("t", 0): "g_a-0", ("t", 1): "g_a-0"})


def test_more_threads_than_partitions_is_settled() -> None:
    members = {"g_a": A, "g_b": A, "g_c": A}
    assert is_settled(members, TWO, {("t", 0): "g_a-0", ("t", 1): "g_b-0"})


def test_a_partition_without_owner_is_not() -> None:
    assert find_unsettled({"g_a": A}, TWO, {("t", 0): "g_a-0"}) == [Unsettled("t", 1, None)]


def test_an_owner_that_is_no_member_is_not() -> None:
    owners = {("t", 0): "g_a-0", ("t", 1): "g_dead-0"}
    assert find_unsettled({"g_a": A}, TWO, owners) == [Unsettled("t", 1, "g_dead-0")]


def test_a_thread_beyond_the_members_streams_is_not() -> None:
    owners = {("t", 0): "g_a-0", ("t", 1): "g_a-1"}
    assert not is_settled({"g_a": A}, TWO, owners)
    assert is_settled({"g_a": build_subscription(["t"], streams=2)}, TWO, owners)


def test_an_owner_that_reads_other_topics_is_not() -> None:
    members = {"g_a": A, "g_b": build_subscription(["u"])}
    assert not is_settled(members, TWO, {("t", 0): "g_a-0", ("t", 1): "g_b-0"})


def test_a_group_without_members_has_nothing_to_settle() -> None:
    assert is_settled({}, TWO, {})


def test_a_new_topic_that_matches_a_pattern_unsettles() -> None:
    members = {"g_a": build_subscription(whitelist="t.*")}
    owners = {("t", 0): "g_a-0"}
    assert is_settled(members, {"t": [0], "other": [0]}, owners)
    assert find_unsettled(members, {"t": [0], "t2": [0]}, owners) == [Unsettled("t2", 0, None)]


def test_leftover_owners_of_deleted_topics_do_not_matter() -> None:
    assert is_settled({"g_a": A}, {"t": [0]}, {("t", 0): "g_a-0", ("t", 9): "g_x-0"})
