"""What a bench hands back: figures with a median and a range. Measures nothing itself."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from os import cpu_count, getloadavg
from statistics import median
from typing import Any, NamedTuple

from rich.table import Table


class Figure(NamedTuple):
    """One thing measured, once per repetition. A ratio has the unit ``×``."""

    name: str
    values: Sequence[float]
    unit: str
    goal: str = ""

    def describe(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "name": self.name,
            "median": median(self.values),
            "low": min(self.values),
            "high": max(self.values),
            "repetitions": len(self.values),
            "unit": self.unit,
            "goal": self.goal,
        }


class Report(NamedTuple):
    """All figures of one bench, and the load average when it began and ended."""

    bench: str
    figures: list[Figure]
    load: tuple[float, float]

    def describe(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        figures = [figure.describe() for figure in self.figures]
        return {"bench": self.bench, "load": self.load, "figures": figures}


def ratio(name: str, ours: Sequence[float], control: Sequence[float], goal: str = "") -> Figure:
    """Pair by pair: what disturbs the machine for a while disturbs both of a pair."""
    return Figure(name, [a / b for a, b in zip(ours, control, strict=True)], "×", goal)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below `share` of all."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def describe_machine() -> dict[str, Any]:
    """Where and when this was measured."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": cpu_count(),
        "python": platform.python_version(),
        "load": getloadavg()[0],
    }


def draw_table(reports: Sequence[Report]) -> Table:
    """A row per figure."""
    table = Table("bench", "figure", "median", "range", "unit", "goal", "load")
    for report in reports:
        load = "{:.1f} – {:.1f}".format(*report.load)
        for figure in report.figures:
            low, high = (_show(value) for value in (min(figure.values), max(figure.values)))
            spread = f"{low} – {high}" if len(figure.values) > 1 else ""
            middle = _show(median(figure.values))
            table.add_row(report.bench, figure.name, middle, spread, figure.unit, figure.goal, load)
        table.add_section()
    return table


def _show(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
