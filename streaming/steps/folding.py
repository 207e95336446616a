"""All step tables taken through one batch, in their order. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streaming.steps.log_gaps import find_blindness
from streaming.steps.registry import STEPS, Step
from streaming.steps.row import Row
from streaming.steps.surroundings import Surroundings
from zklake.events.envelope import Event


@dataclass
class StepState:
    """A step table as the driver holds it: its rows, and the last seq that is in them."""

    # The open ones; right after a start also those that ended beyond the watermark.
    rows: list[Row] = field(default_factory=list)
    marker: int = -1
    # Whether events since have changed something that the lake does not hold yet.
    is_changed: bool = False

    @property
    def open_rows(self) -> list[Row]:
        """What the next events go on from."""
        return [row for row in self.rows if row["is_open"]]

    @property
    def ended_rows(self) -> list[Row]:
        """What the lake holds for good."""
        return [row for row in self.rows if not row["is_open"]]


def make_states() -> dict[str, StepState]:
    """The step tables of a lake that holds nothing yet."""
    return {step.name: StepState() for step in STEPS}


def fold_steps(
    states: Mapping[str, StepState],
    followed: list[Event],
    around: Surroundings,
) -> tuple[dict[str, list[Row]], Surroundings]:
    """The rows of every step table; and the surroundings, with the gaps that were in force."""
    rows: dict[str, list[Row]] = {}
    for step in STEPS:
        rows[step.name] = _fold_step(step, states[step.name], followed, around)
        if step.name == "log_gaps":
            around = _look_into_gaps(around, rows[step.name])
    return rows, around


def _fold_step(
    step: Step,
    state: StepState,
    followed: list[Event],
    around: Surroundings,
) -> list[Row]:
    events = [e for e in followed if e.seq > state.marker and step.concerns(e, around)]
    state.is_changed = False
    if not events:
        return state.rows
    former = state.open_rows
    rows = step.fold(former, events, around)
    state.is_changed = rows != former
    return state.ended_rows + rows


def _look_into_gaps(around: Surroundings, gaps: list[Row]) -> Surroundings:
    around = replace(around, blindness=find_blindness(gaps))
    closures = {
        place: replace(closure, gap_from_ms=around.find_gap(closure.cluster, closure.end_seq))
        for place, closure in around.closures.items()
    }
    return replace(around, closures=closures)
