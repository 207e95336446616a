from __future__ import annotations

import sys

from lab.zookeeper_consumer.pace import Pace


def test_without_a_rate_everything_is_allowed() -> None:
    assert Pace(None, 0.0).allow(0.0) == sys.maxsize


def test_so_many_a_second_and_no_more() -> None:
    pace = Pace(8.0, 100.0)
    read = 0
    for tick in range(1, 1001):
        allowed = pace.allow(100.0 + tick / 50)
        pace.spend(allowed)
        read += allowed
    assert read == 160  # 20 s


def test_an_idle_hour_is_not_saved_up() -> None:
    pace = Pace(8.0, 0.0)
    assert pace.allow(3600.0) == 8
    pace.spend(8)
    assert pace.allow(3600.0) == 0


def test_a_rate_below_one_still_moves() -> None:
    pace = Pace(0.25, 0.0)
    assert [pace.allow(float(second)) for second in (1, 2, 3, 4)] == [0, 0, 0, 1]
