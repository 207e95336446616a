"""Session closes: all ephemerals of one session deleted in one unbroken run of events."""

from __future__ import annotations

from collections.abc import Iterable

from tests.reference.fold.keys import place_of
from tests.reference.fold.states import State
from zklake.events.envelope import Event

# Deletes of one transaction come together: one later than this begins another run.
QUIET_MS = 500
# Kinds that are ephemeral wherever Kafka or a consumer made them; /controller has no place.
_EPHEMERAL = ("broker", "topic_broker", "consumer", "owner")


class Run:
    """The deletes of one session's ephemerals that followed each other without a break."""

    def __init__(self) -> None:
        self.session: int | None = None
        self.ended: list[State] = []
        # Those since then whose session nobody could read: they share the run's end.
        self.unread: list[State] = []
        self.last_ms = 0

    def break_off(self) -> None:
        """Another event came between."""
        self.session = None
        self.ended = []
        self.unread = []

    def take(self, event: Event, state: State | None, alive: Iterable[State]) -> None:
        """A delete ended `state`; `alive` are all states that stand after it."""
        is_unread = state is None or state.session is None
        if event.origin not in ("watch", "txnlog") or (is_unread and not _is_ephemeral(event)):
            self.break_off()
            return
        if state is None or state.session is None:
            self.unread += [state] if state else []
            return
        is_late = event.observed_at_ms - self.last_ms >= QUIET_MS
        if state.session != self.session or is_late:
            self.break_off()
            self.session = state.session
        self.ended += [*self.unread, state]
        self.unread = []
        self.last_ms = event.observed_at_ms
        if any(other.session == self.session for other in alive):
            return
        for closed in self.ended:
            if closed.row["ended_by"] == "deleted":
                closed.row["ended_by"] = "session_ended"


def _is_ephemeral(event: Event) -> bool:
    has_row = event.kind in _EPHEMERAL and place_of(event.kind, event.path) is not None
    return has_row or event.kind == "controller"
