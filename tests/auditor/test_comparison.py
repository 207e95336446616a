"""Trees and rows that agree, and such that do not."""

from __future__ import annotations

from auditor.comparison import Difference, OpenZnodeRow, State, ZnodeTable, find_differences

HERE, THERE = ZnodeTable("topics", "/brokers/topics/a"), ZnodeTable("topics", "/brokers/topics/b")
STATE = State(10, 2)


def test_the_same_state_is_no_difference() -> None:
    assert find_differences({HERE: STATE}, {HERE: OpenZnodeRow(STATE, 5)}) == []


def test_what_is_not_known_contradicts_nothing() -> None:
    assert find_differences({HERE: STATE}, {HERE: OpenZnodeRow(State(None, None), 5)}) == []
    assert find_differences({HERE: STATE}, {HERE: OpenZnodeRow(State(10, None), 5)}) == []


def test_a_row_that_is_missing_and_one_too_many() -> None:
    row = OpenZnodeRow(STATE, 5)
    assert find_differences({HERE: STATE}, {THERE: row}) == [
        Difference(HERE, STATE, None),
        Difference(THERE, None, row),
    ]


def test_another_version_and_another_life_differ() -> None:
    for other in (State(10, 3), State(11, 2)):
        found = find_differences({HERE: STATE}, {HERE: OpenZnodeRow(other, 5)})
        assert found == [Difference(HERE, STATE, OpenZnodeRow(other, 5))]


def test_only_the_places_that_are_asked_for() -> None:
    tree, rows = {HERE: STATE, THERE: STATE}, dict[ZnodeTable, OpenZnodeRow]()
    assert [one.place for one in find_differences(tree, rows, [THERE])] == [THERE]
    assert find_differences({}, {}, [HERE]) == [], "gone from both meanwhile"
