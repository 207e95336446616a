"""Time lag: from a curve of log ends that does not depend on when it was thinned."""

from __future__ import annotations

import random

import pytest

from streaming.fold.lag.curve import HOUR_MS, UNKNOWN, Curve, Seconds

MINUTE_MS = 60_000


def draw(*points: tuple[int, int, int]) -> Curve:
    """Points as (end, first told at, last confirmed at), in seconds."""
    curve = Curve()
    for end, first, last in points:
        curve.add(1, end, first * 1000, last * 1000)
    return curve


def test_an_offset_between_two_samples_came_between_them() -> None:
    curve = draw((100, 10, 20), (200, 30, 30))
    assert curve.measure(150, 1, 300, 40_000) == Seconds(15.0, 10.0, "interpolated")
    assert curve.measure(100, 1, 300, 40_000) == Seconds(20.0, 10.0, "interpolated")
    assert curve.measure(250, 1, 300, 40_000) == Seconds(5.0, 10.0, "interpolated")


def test_a_burst_lies_between_the_quiet_before_and_its_sample() -> None:
    curve = draw((100, 0, 3600))
    assert curve.measure(100, 1, 1_000_100, 3_610_000) == Seconds(10.0, 10.0, "interpolated")
    assert curve.measure(600_100, 1, 1_000_100, 3_610_000) == Seconds(4.0, 10.0, "interpolated")


def test_before_the_first_sample_the_pace_of_all_that_is_known_tells() -> None:
    curve = draw((1000, 100, 100))
    assert curve.measure(500, 1, 2000, 200_000) == Seconds(150.0, None, "extrapolated")


@pytest.mark.parametrize("points", [(), ((2000, 100, 150),)])
def test_one_sample_tells_no_time(points: tuple[tuple[int, int, int], ...]) -> None:
    assert draw(*points).measure(500, 1, 2000, 200_000).quality == "unknown"


def test_a_smaller_end_or_another_topic_starts_the_curve_anew() -> None:
    for incarnation, end in ((1, 50), (2, 200)):
        curve = draw((100, 10, 20), (200, 30, 30))
        assert curve.find_first(incarnation, end, 40_000) == 40_000
        assert curve.measure(20, incarnation, end, 40_000) == UNKNOWN
        curve.add(incarnation, end, 40_000, 50_000)
        assert len(curve) == 1


def test_an_end_that_stands_is_known_since_it_was_first_told() -> None:
    curve = draw((100, 10, 20))
    assert curve.find_first(1, 100, 40_000) == 10_000
    curve.add(1, 100, 10_000, 90_000)
    assert len(curve) == 1
    assert curve.measure(100, 1, 200, 95_000).error == 5.0


def test_wild_offsets_do_not_matter() -> None:
    curve = draw((2**63 - 2, 10, 20))
    assert curve.measure(0, 1, 2**63 - 1, 30_000).value is not None


def thin_at(points: list[tuple[int, int, int]], hours: list[int], last: int) -> Curve:
    """Add points as time goes by, thinning in some hours, and at last in one."""
    curve, waiting = Curve(), sorted(hours)
    for end, first_ms, last_ms in points:
        while waiting and waiting[0] * HOUR_MS <= last_ms:
            curve.thin(waiting.pop(0) * HOUR_MS)
        curve.add(1, end, first_ms, last_ms)
    curve.thin(last * HOUR_MS)
    return curve


@pytest.mark.parametrize("seed", range(30))
def test_what_is_kept_does_not_depend_on_when_it_was_thinned(seed: int) -> None:
    dice = random.Random(seed)
    points, at_ms = [], HOUR_MS
    for end in range(400):
        first_ms = at_ms + dice.choice((1, 10, 60, 600, 3600, 90_000)) * 1000
        at_ms = first_ms + dice.choice((0, 0, 10, 60, 600, 9000)) * 1000
        points.append((end, first_ms, at_ms))
    last = at_ms // HOUR_MS
    often = sorted(dice.randrange(last) for _ in range(50))
    kept = [thin_at(points, hours, last) for hours in ([], often, list(range(last)))]
    for curve in kept[1:]:
        told = [(c, curve.measure(c, 1, 400, at_ms)) for c in range(400)]
        assert told == [(c, kept[0].measure(c, 1, 400, at_ms)) for c in range(400)]


def test_a_busy_partition_keeps_some_hundred_points_of_14_days() -> None:
    points = [(n, n * MINUTE_MS, n * MINUTE_MS + 50_000) for n in range(20 * 24 * 60)]
    curve = thin_at(points, list(range(20 * 24)), 20 * 24)
    assert 400 < len(curve) < 600
