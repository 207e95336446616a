"""Burrow's rules, each by the window that shows it."""

from __future__ import annotations

import pytest

from dashboard.dialects.burrow.evaluation import (
    STATUS_CODES,
    Commit,
    History,
    LogEnd,
    Owner,
    Rules,
    Status,
    evaluate_group,
    evaluate_partition,
    fill_window,
    find_log_end,
    judge,
    list_recent_ends,
)

MINUTE = 60_000
RULES = Rules()


def window(offsets: list[int], lags: list[int | None], apart_ms: int = MINUTE) -> list[Commit]:
    pairs = zip(offsets, lags, strict=True)
    return [Commit(offset, n * apart_ms, lag) for n, (offset, lag) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("offsets", "lags", "end", "late_ms", "wanted"),
    [
        # 0: no lag now, whatever was.
        ([5, 5, 5], [9, 9, 9], 5, MINUTE, "OK"),
        # 1: silent for longer than the window is long.
        ([10, 20, 30], [0, 0, 0], 50, 3 * MINUTE, "STOP"),
        ([10, 20, 30], [1, 2, 3], 50, 2 * MINUTE, "WARN"),
        # 2: some fell, and never came back.
        ([10, 30, 20, 25], [5, 5, 15, 10], 50, MINUTE, "REWIND"),
        ([10, 30, 20, 30], [5, 5, 15, 9], 50, MINUTE, "OK"),
        # 3: no lag at some time.
        ([10, 20, 30], [5, 0, 7], 50, MINUTE, "OK"),
        # 4: they commit, always the same.
        ([10, 10, 10], [5, 6, 5], 50, MINUTE, "STALL"),
        # 5: lag never falls; nulls are passed over.
        ([10, 20, 30], [5, None, 5], 50, MINUTE, "WARN"),
        ([10, 20, 30], [5, 7, 6], 50, MINUTE, "OK"),
    ],
)
def test_the_rules_in_their_order(
    offsets: list[int], lags: list[int | None], end: int, late_ms: int, wanted: Status
) -> None:
    made = window(offsets, lags)
    now_ms = made[-1].at_ms + late_ms
    lag = max(0, end - made[-1].offset)
    assert judge(made, [end], lag, now_ms, 0) == wanted


def test_no_stop_while_a_recent_end_was_reached() -> None:
    made = window([10, 20, 30], [5, 5, 5])
    assert judge(made, [30, 50], 20, 10 * MINUTE, 0) == "WARN"
    assert judge(made, [31, 50], 20, 10 * MINUTE, 0) == "STOP"


def test_allowed_lag_is_no_lag() -> None:
    made = window([10, 20, 30], [50, 60, 70])
    assert judge(made, [130], 100, 3 * MINUTE, 100) == "OK"
    assert judge(made, [131], 101, 3 * MINUTE, 100) == "OK"
    assert judge(made, [131], 101, 3 * MINUTE, 49) == "WARN"


def history(*commits: tuple[int, int], ends: tuple[LogEnd, ...] = (LogEnd(0, 100),)) -> History:
    return History("t", 0, Owner(), commits, ends)


def test_the_window() -> None:
    late = fill_window(history((5, -1000), (6, 0)), RULES)
    assert late == (Commit(5, -1000, None), Commit(6, 0, 94)), "end not known yet"
    assert fill_window(history((5, 0), ends=()), RULES) == (), "a topic that nobody knows"
    near = fill_window(history((5, 0), (6, 999), (7, 1000), (8, 1500)), RULES)
    assert near == (Commit(6, 0, 94), Commit(8, 1000, 92))
    many = fill_window(history(*((n, n * 1000) for n in range(30))), RULES)
    assert [commit.offset for commit in many] == list(range(20, 30))


def test_between_two_samples_the_end_lies_on_a_line() -> None:
    curve = (LogEnd(0, 100), LogEnd(10_000, 200), LogEnd(20_000, 200))
    times = (-1, 0, 2_500, 10_000, 15_000, 99_000)
    assert [find_log_end(curve, at_ms) for at_ms in times] == [None, 100, 125, 200, 200, 200]
    again = (LogEnd(0, 100), LogEnd(0, 150), LogEnd(10_000, 0))
    assert [find_log_end(again, at_ms) for at_ms in (0, 5_000)] == [150, 75]


def test_the_ring_of_ends() -> None:
    ends = (LogEnd(5_000, 1), LogEnd(20_000, 2))
    assert list_recent_ends(ends, 30_000, RULES) == [1, 2, 2]
    assert list_recent_ends(ends, 4_000, RULES) == []


def test_an_incomplete_window_may_count_as_ok() -> None:
    one = history((10, 0), (10, MINUTE))
    assert evaluate_partition(one, MINUTE + 1, RULES).status == "STALL"
    patient = evaluate_partition(one, MINUTE + 1, Rules(minimum_complete=1.0))
    assert (patient.status, patient.complete, patient.current_lag) == ("OK", 0.2, 90)
    assert evaluate_partition(history(), MINUTE, RULES).status == "OK"


def test_a_group_is_as_bad_as_its_worst_partition() -> None:
    stalled = history((10, 0), (10, MINUTE))
    fine = History("t", 1, Owner(), ((99, 0), (100, MINUTE)), (LogEnd(0, 100),))
    found = evaluate_group("c", "g", [stalled, fine], MINUTE + 1, RULES)
    assert (found.status, found.total_lag, found.complete) == ("ERR", 90, 0)
    assert found.max_lag is not None
    assert (found.max_lag.partition, found.max_lag.status) == (0, "STALL")
    assert evaluate_group("c", "g", [fine], MINUTE + 1, RULES).status == "OK"
    week = (RULES.expire_group_s + 61) * 1000
    assert evaluate_group("c", "g", [fine], week, RULES).status == "NOTFOUND"
    assert evaluate_group("c", "g", [], 0, RULES).status == "NOTFOUND"
    assert sorted(STATUS_CODES.values()) == list(range(7))
