"""Who leaves is asked nothing more for; who asked the same at that time gets the answer."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.tables import Tables
from tests.delta_tables.small_lake import write_lake
from zklake.errors import QueryCancelled

SQL = "SELECT count(*) AS n FROM topics"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    write_lake(str(tmp_path), "c", {"topics": [{"topic": "a", "valid_from_seq": 1}]})
    tables = Tables(str(tmp_path), "c")
    tables.look()
    return tables


def test_nothing_more_is_asked_for_who_left(tables: Tables) -> None:
    left = Cancellation()
    bound = tables.bind(left)
    assert bound.query(SQL, "topics") == [{"n": 1}]
    left.cancel()
    for ask in (bound.query, bound.ask):
        with pytest.raises(QueryCancelled):
            ask(SQL, "topics")
    assert tables.query(SQL, "topics") == [{"n": 1}]


def test_a_derivation_of_many_queries_ends_between_two_of_them(tables: Tables) -> None:
    left, asked = Cancellation(), []
    bound = tables.bind(left)

    def make() -> None:
        for number in range(5):
            asked.append(bound.ask(f"SELECT {number} AS n FROM topics", "topics"))
            if number == 1:
                left.cancel()

    with pytest.raises(QueryCancelled):
        bound.derive("many", ("topics",), make)
    assert asked == [[{"n": 0}], [{"n": 1}]]


def test_who_waits_for_the_same_answer_asks_it_instead(tables: Tables) -> None:
    left, is_under_way, answers = Cancellation(), threading.Event(), []
    first, second = tables.bind(left), tables.bind(Cancellation())

    def begin() -> str:
        is_under_way.set()
        waiting.start()
        # Until the other one waits, or has asked already: it must get its answer either way.
        waiting.join(0.5)
        left.cancel()
        first.ask(SQL, "topics")
        raise AssertionError("it went on")

    def wait() -> None:
        answers.append(second.derive("same", ("topics",), lambda: "made by the second"))

    waiting = threading.Thread(target=wait)
    with pytest.raises(QueryCancelled):
        first.derive("same", ("topics",), begin)
    waiting.join(30)
    assert is_under_way.is_set()
    assert answers == ["made by the second"]
