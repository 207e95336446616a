"""Session closes: all ephemerals of one session deleted in one unbroken run of events."""

from __future__ import annotations

from collections.abc import Iterable

from tests.reference.fold.states import State
from zklake.events.envelope import Event

# Deletes of one transaction come together: one later than this begins another run.
QUIET_MS = 500


class Run:
    """The deletes of one session's ephemerals that followed each other without a break."""

    def __init__(self) -> None:
        self.session: int | None = None
        self.ended: list[State] = []
        self.last_ms = 0

    def break_off(self) -> None:
        """Another event came between."""
        self.session = None
        self.ended = []

    def take(self, event: Event, state: State | None, alive: Iterable[State]) -> None:
        """A delete ended `state`; `alive` are all states that stand after it."""
        if state is None or state.session is None or event.origin != "watch":
            self.break_off()
            return
        is_late = event.observed_at_ms - self.last_ms >= QUIET_MS
        if state.session != self.session or is_late:
            self.break_off()
            self.session = state.session
        self.ended.append(state)
        self.last_ms = event.observed_at_ms
        if any(other.session == self.session for other in alive):
            return
        for closed in self.ended:
            if closed.row["ended_by"] == "deleted":
                closed.row["ended_by"] = "session_closed"
