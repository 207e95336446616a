"""The colour of a name: the same on every page and in every range. Knows no chart.

Names are cold colours; warm ones say that something is wrong. Lines (partitions, groups), members
and brokers have a lightness and strength of their own, so one colour is never two things.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple
from zlib import crc32

# From green over blue to pink: red, orange and yellow are left to what is wrong.
_FIRST_HUE, _HUES = 130, 225
# Neighbours in a row of numbers are far apart on the circle.
_GOLDEN = (sqrt(5) - 1) / 2
_SHADES = (0.0, -0.1, 0.08)
# More of them lie too close together on the circle.
_APART = 7


class _Family(NamedTuple):
    """Lightness and strength in the light theme and in the dark one."""

    light: tuple[float, float]
    dark: tuple[float, float]

    def paint(self, place: float, shade: int = 0) -> str:
        """A place on the circle of hues; shades separate what lies close together there."""
        hue = round(_FIRST_HUE + place % 1 * _HUES, 1)
        (light, light_chroma), (dark, dark_chroma) = self.light, self.dark
        step = _SHADES[shade % len(_SHADES)]
        return (
            f"light-dark(oklch({light + step:.2f} {light_chroma} {hue}), "
            f"oklch({dark + step:.2f} {dark_chroma} {hue}))"
        )


_LINES = _Family((0.56, 0.15), (0.76, 0.13))
_MEMBERS = _Family((0.87, 0.06), (0.45, 0.07))
_BROKERS = _Family((0.74, 0.045), (0.56, 0.035))


def colour_partition(topic: str, partition: int) -> str:
    """The line of a partition; those of one topic differ clearly."""
    return _LINES.paint(_place(topic) + partition * _GOLDEN, partition // _APART)


def colour_line(name: str) -> str:
    """The line of a group, or of a partition by its whole name."""
    topic, dash, number = name.rpartition("-")
    if dash and number.isascii() and number.isdigit() and number == str(int(number[:10])):
        return colour_partition(topic, int(number))
    return _LINES.paint(_place(name), _hash(name) % len(_SHADES))


def colour_member(member_id: str) -> str:
    """The bars of a member of a group."""
    return _MEMBERS.paint(_place(member_id))


def colour_broker(broker_id: int) -> str:
    """The bars of a broker, and of what it leads."""
    return _BROKERS.paint(broker_id * _GOLDEN)


def _place(name: str) -> float:
    return _hash(name) / (1 << 32)


def _hash(name: str) -> int:
    return crc32(name.encode(errors="surrogatepass"))
