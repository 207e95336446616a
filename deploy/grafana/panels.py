"""The parts of a dashboard, and short ways to make them. It knows no metric and no JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["timeseries", "stat", "table", "state-timeline"]


class Query(NamedTuple):
    """PromQL, and how a series of it is called."""

    expr: str
    legend: str = ""


class Word(NamedTuple):
    """What a number stands for (its place in the list), and its colour."""

    text: str
    color: str


@dataclass(frozen=True)
class Panel:
    """One panel; its place follows from its width and from the panels before it."""

    title: str
    says: str
    queries: Sequence[Query]
    kind: Kind
    unit: str
    width: int
    height: int
    words: Sequence[Word] = ()
    # (from this value on, colour); below the first it is green.
    limits: Sequence[tuple[float, str]] = ()


class Section(NamedTuple):
    """A heading, and the panels under it."""

    title: str
    panels: Sequence[Panel]


class Variable(NamedTuple):
    """A choice above the dashboard: the values that a label has."""

    name: str
    query: str
    is_multiple: bool = False


@dataclass(frozen=True)
class Board:
    """One dashboard."""

    name: str
    title: str
    says: str
    variables: Sequence[Variable]
    sections: Sequence[Section]


def draw(title: str, says: str, *queries: Query, unit: str = "short", width: int = 12) -> Panel:
    """Lines over time."""
    return Panel(title, says, queries, "timeseries", unit, width, height=8)


def stat(
    title: str,
    says: str,
    *queries: Query,
    unit: str = "short",
    width: int = 4,
    words: Sequence[Word] = (),
    limits: Sequence[tuple[float, str]] = (),
) -> Panel:
    """The newest number, large."""
    return Panel(title, says, queries, "stat", unit, width, 4, words, limits)


def band(title: str, says: str, *queries: Query, words: Sequence[Word], width: int = 12) -> Panel:
    """A coloured band per series: which state held when."""
    return Panel(title, says, queries, "state-timeline", "short", width, 8, words)


def rank(title: str, says: str, query: Query, width: int = 12) -> Panel:
    """A table of the newest values, the largest first."""
    return Panel(title, says, (query,), "table", "short", width, height=8)
