"""What a rule is to whoever looks for incidents: the tables it reads, its clock, its question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from alerts.incident import Spell
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables

# Up to when the history is whole: the last event, the last sampling round, or the present.
Clock = Literal["watermark", "sampled", "now"]


@dataclass(frozen=True)
class RuleKind:
    """One kind of rule. `find` gets the settings of that rule."""

    name: str
    reads: tuple[str, ...]
    find: Callable[[Tables, Any, Span], list[Spell]]
    clock: Clock = "watermark"
    # How far back it must look beyond what for_s and clear_s say.
    count_lookback: Callable[[Any], float] = lambda rule: 0.0


def write_minute(value: Any) -> int:
    """The mark of a spell that is judged by a number: rows of one minute may become one row."""
    return int(value.timestamp()) // 60


def write_ms(value: Any) -> int:
    """Milliseconds since the epoch: the mark of a spell whose row has no seq."""
    return int(value.timestamp() * 1000)
