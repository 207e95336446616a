from __future__ import annotations

from bench.figures import Figure, percentile, ratio


def test_a_ratio_is_taken_pair_by_pair() -> None:
    told = ratio("rate", [1.0, 4.0, 9.0], [2.0, 4.0, 3.0], "≥ 1").describe()
    assert (told["low"], told["median"], told["high"]) == (0.5, 1.0, 3.0)
    assert (told["unit"], told["repetitions"], told["goal"]) == ("×", 3, "≥ 1")


def test_percentiles_are_values_that_were_seen() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile([3.0], 0.99) == 3


def test_one_value_is_its_own_range() -> None:
    told = Figure("bytes", [240.0], "B").describe()
    assert told["low"] == told["median"] == told["high"] == 240
