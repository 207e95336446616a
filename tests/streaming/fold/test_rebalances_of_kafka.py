"""Rebalances of Kafka-stored groups: one row per step of the generation."""

from __future__ import annotations

import pytest

from tests.streaming.fold.group_log import START_MS, GroupLog, Row, fold, fold_cut
from tests.streaming.fold.lake_rows import recall


def rows_of(log: GroupLog) -> list[Row]:
    ended, open_rows = fold(log)
    assert open_rows == []
    return ended


def pick(row: Row, *names: str) -> list[object]:
    return [row[name] for name in names]


def test_a_step_of_the_generation_is_a_rebalance() -> None:
    log = GroupLog()
    log.state({"m1": [0, 1, 2]}, generation=4)
    log.state({"m1": [0, 1], "m2": [2]}, generation=5, at_ms=START_MS + 7)
    (row,) = rows_of(log)
    assert pick(row, "coordinator", "group_id", "generation") == ["kafka", "g", 5]
    assert pick(row, "trigger", "trigger_member_id", "triggers") == [
        *("member_joined", "m2", ["member_joined"])
    ]
    assert pick(row, "members_before", "members_after", "partitions") == [1, 2, 3]
    assert pick(row, "moved", "reacquired", "left_unowned") == [1, 2, 0]
    assert pick(row, "attempts", "conflicts", "unowned_ms", "unowned", "duration_ms") == [None] * 5
    assert pick(row, "valid_from_at", "valid_to_at") == [START_MS + 7] * 2
    assert pick(row, "valid_from_seq", "valid_to_seq", "ended_by", "outcome") == [
        *(1, 1, "settled", "settled")
    ]


def test_first_sight_repetition_and_disappearance_make_no_row() -> None:
    log = GroupLog()
    log.state({"m1": [0]}, generation=4)
    log.state({"m1": [0]}, generation=4)
    log.state({"m1": [0]}, generation=4, state="PreparingRebalance")
    log.round(3)
    log.state({"m1": [0]}, generation=5)
    log.state(None, tombstone=True)
    assert rows_of(log) == []


def test_triggers_follow_from_what_differs() -> None:
    log = GroupLog()
    log.state({"m1": [0], "m2": [1]}, generation=1)
    log.state({"m1": [0], "m3": [1]}, generation=2)
    log.state({"m1": [0, 1]}, generation=3)
    log.state({"m1": [0, 1, 2]}, generation=4)
    log.state({"m1": [0, 1, 2]}, generation=8)
    log.state({}, generation=9, state="Empty")
    told = [pick(r, "triggers", "trigger_member_id", "trigger_topic") for r in rows_of(log)]
    assert told == [
        [["member_joined", "member_left"], "m3", None],
        [["member_left"], "m3", None],
        [["topic_changed"], None, "t"],
        [["unknown"], None, None],
        [["member_left"], "m1", None],
    ]
    assert [row["attempts"] for row in rows_of(log)] == [None, None, None, 4, None]
    assert [row["left_unowned"] for row in rows_of(log)] == [0, 0, 0, 0, 3]


@pytest.mark.parametrize("generations", [(4, 5), (None, None)])
def test_a_topic_that_grew_is_the_trigger(generations: tuple[int | None, int | None]) -> None:
    log = GroupLog()
    log.topic("t", 2)
    log.state({"m1": [0], "m2": [1]}, generation=generations[0])
    log.topic("t", 4, op="set")
    log.state({"m1": [0, 2], "m2": [1, 3]}, generation=generations[1])
    names = ("trigger", "triggers", "trigger_topic", "moved", "reacquired")
    expected = ["partitions_added", ["partitions_added"], "t", 0, 2]
    assert [pick(row, *names) for row in rows_of(log)] == [expected]
    assert fold_cut(log, 2, recall)[0] == rows_of(log)
    assert fold_cut(log, 3, recall)[0] == rows_of(log)


def test_partitions_that_were_there_before_were_not_added() -> None:
    """A cooperative assignor takes them from one, and hands them to another a generation later."""
    log = GroupLog()
    log.topic("t", 4)
    log.state({"m1": [0, 1, 2, 3]}, generation=4)
    log.state({"m1": [0, 1], "m2": []}, generation=5)
    log.state({"m1": [0, 1], "m2": [2, 3]}, generation=6)
    assert [row["trigger"] for row in rows_of(log)] == ["member_joined", "topic_changed"]


def test_a_topic_that_the_group_did_not_read_before_has_not_grown() -> None:
    log = GroupLog()
    log.state({"m1": []}, generation=4)
    log.topic("t", 2)
    log.state({"m1": [0, 1]}, generation=5)
    assert [row["trigger"] for row in rows_of(log)] == ["topic_changed"]


def test_groups_that_are_asked_rebalance_when_they_differ() -> None:
    log = GroupLog()
    log.state({"m1": [0]})
    log.state({"m1": [0]}, state="PreparingRebalance")
    log.state({"m1": [0], "m2": []})
    (row,) = rows_of(log)
    assert pick(row, "trigger", "generation", "reacquired") == ["member_joined", None, 1]


def test_members_that_did_not_fit_are_not_compared() -> None:
    log = GroupLog()
    log.state({"m1": [0]}, generation=1)
    log.state(None, generation=2, member_count=5000)
    log.state(None, generation=3, member_count=5001)
    log.state({"m1": [0]}, generation=4)
    names = ("trigger", "members_before", "members_after", "partitions", "moved", "left_unowned")
    assert [pick(row, *names) for row in rows_of(log)] == [
        ["unknown", 1, 5000, None, None, None],
        ["unknown", None, 5001, None, None, None],
        ["unknown", None, 1, 1, None, None],
    ]
