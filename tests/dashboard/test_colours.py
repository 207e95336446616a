from __future__ import annotations

import re

from dashboard.colours import colour_broker, colour_line, colour_member, colour_partition

_HUE = re.compile(r"oklch\([\d.]+ [\d.]+ ([\d.]+)\)")


def _find_hues(colour: str) -> set[float]:
    return {float(hue) for hue in _HUE.findall(colour)}


def test_a_partition_has_one_colour_however_it_is_named() -> None:
    assert colour_line("orders-3") == colour_partition("orders", 3)
    assert colour_line("team-003") != colour_line("team-3")
    assert colour_line("a-b-") == colour_line("a-b-") != colour_line("a-b")


def test_neighbours_are_told_apart() -> None:
    hues = [_find_hues(colour_partition("orders", number)).pop() for number in range(8)]
    assert min(abs(a - b) for a in hues for b in hues if a != b) > 15


def test_one_colour_is_never_two_things_and_never_a_warm_one() -> None:
    names = [f"name {number}" for number in range(300)]
    families = [
        {colour_line(name) for name in names},
        {colour_member(name) for name in names},
        {colour_broker(number) for number in range(300)},
    ]
    assert sum(map(len, families)) == len(set.union(*families))
    hues = {hue for family in families for colour in family for hue in _find_hues(colour)}
    # Red, orange and yellow say that something is wrong.
    assert min(hues) >= 120
    assert max(hues) <= 360


def test_any_name_has_a_colour() -> None:
    for name in ("", "-", "-1", "<b>", "x" * 10_000, "t-" + "9" * 400, "группа 🐘"):
        assert colour_line(name).startswith("light-dark(oklch(")
        assert colour_member(name).startswith("light-dark(oklch(")
