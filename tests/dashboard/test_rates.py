from __future__ import annotations

import pytest

from dashboard.rates import OffsetReading, Readings, measure_rates

# Ten points of 15 s from second 0 on.
GRID, STEP = range(10), 15


def _read(*readings: tuple[float, int], until: float) -> Readings:
    return Readings([OffsetReading(at, offset) for at, offset in readings], until)


def test_a_steady_pace_is_steady_whatever_the_rounds_fall_into() -> None:
    """Rounds are 10 s apart and points 15 s: one or two of them lie in each."""
    steady = _read(*((at, 7 * at) for at in range(0, 151, 10)), until=150)
    assert measure_rates([steady], GRID, STEP, 15) == [7.0] * 10


def test_who_commits_once_a_minute_reads_all_the_time() -> None:
    commits = _read((0, 0), (60, 600), (120, 1200), until=125)
    rates = measure_rates([commits], GRID, STEP, 90)
    assert rates[:8] == [10.0] * 8
    # What was read since the last commit nobody knows yet.
    assert rates[8:] == [None, None]


def test_a_habit_of_longer_waits_is_no_standing_still() -> None:
    habit = _read(*((at, at) for at in range(0, 151, 30)), until=150)
    assert measure_rates([habit], GRID, STEP, 15) == [1.0] * 10


def test_who_stood_still_did_not_read_slowly() -> None:
    burst = _read((0, 0), (120, 300), until=120)
    rates = measure_rates([burst], GRID, STEP, 30)
    assert rates[:6] == [0.0] * 6
    assert rates[6:8] == [10.0, 10.0]


def test_an_offset_that_was_set_back_is_no_reading() -> None:
    rewound = _read((0, 900), (30, 100), (60, 400), until=60)
    assert measure_rates([rewound], GRID, STEP, 30)[:4] == [0.0, 0.0, 10.0, 10.0]


def test_partitions_are_added_up_and_nothing_is_not_zero() -> None:
    one = _read((0, 0), (60, 60), until=60)
    other = _read((0, 0), (60, 120), until=60)
    rates = measure_rates([one, other], GRID, STEP, 60)
    assert rates[:4] == [pytest.approx(3.0)] * 4
    assert rates[4:] == [None] * 6
    assert measure_rates([], GRID, STEP, 60) == [None] * 10
