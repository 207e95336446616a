from __future__ import annotations

from typing import Any

from bench.turns import Turn, Turns
from zklake.events.envelope import Event, Op
from zklake.events.samples import BrokerFailure, Commit, GroupCommits, LogEnd, LogEnds, Round


def make_event(seq: int, op: Op, **payload: Any) -> Event:
    return Event("c", "l", seq, op, 1, **payload)


def say(seq: int, *offsets: int) -> Event:
    commits = tuple(Commit("g", "t", p, offset) for p, offset in enumerate(offsets))
    return make_event(seq, "group_commit", group_commit=GroupCommits(commits))


def end(seq: int, after_seq: int, took_ms: int, *brokers: int, failed: int | None = None) -> Event:
    failures = () if failed is None else (BrokerFailure(failed, "no answer"),)
    return make_event(
        seq, "log_ends", log_ends=LogEnds((), Round(after_seq, took_ms, brokers, failures))
    )


def move(seq: int, count: int, ended: Round | None = None) -> Event:
    ends = tuple(LogEnd("t", partition, log_end_offset=1) for partition in range(count))
    return make_event(seq, "log_ends", log_ends=LogEnds(ends, ended))


def test_a_slow_brokers_own_rounds_count_into_the_turn_in_which_it_was_asked() -> None:
    turns = Turns()
    log = [
        *(
            say(1, 5, 5, 5),
            say(2, 5, 4),
            make_event(3, "log_ends", log_ends=LogEnds()),
            end(4, 2, 1000, 0),
        ),
        # Said for the next turn, while the first is still owed an answer.
        *(say(5, 6, 6), end(6, 2, 2500, 1), end(7, 5, 900, 0, 1), end(8, 2, 7000, failed=2)),
    ]
    assert [event.seq for event in log if turns.note(event)] == [4, 7]
    first = Turn(1.0, 7.0, answered=2, failed=1, rounds=3, commits=5, newest=4, moved=0)
    second = Turn(0.9, 0.9, answered=2, failed=0, rounds=1, commits=2, newest=2, moved=0)
    assert turns.sum_up() == [first, second]


def test_commits_that_are_said_after_the_requests_belong_to_the_next_turn() -> None:
    turns = Turns()
    for event in (say(1, 1), say(2, 2), end(3, 1, 10, 0), end(4, 3, 10, 0), end(5, 4, 10, 0)):
        turns.note(event)
    assert [each.commits for each in turns.sum_up()] == [1, 1, 0]


def test_log_ends_count_into_the_turn_whose_round_says_them() -> None:
    turns, first, second = Turns(), Round(1, 10, (0,)), Round(4, 10, (0,))
    late = Round(1, 5000, (1,))
    for event in (
        *(say(1, 1), move(2, 3), move(3, 2, first), move(5, 4), move(6, 1, late)),
        *(move(7, 6, second), move(8, 7)),
    ):
        turns.note(event)
    assert [each.moved for each in turns.sum_up()] == [10, 6]
