"""The standing of one cluster and the machines that watch it, taken through the log together.

Pure. Time passes for them with the records that znode_events keeps: a rebuild sees no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from streaming.machines.machine import Machine, Taken
from streaming.machines.standing import Standing
from streaming.progress import HEARTBEAT_MS
from streaming.steps.surroundings import Surroundings
from zklake.events.envelope import Event

# A marker moves at least this often: what follows it is read again after a restart.
_IDLE_MS = 3_600_000


class Beginner(NamedTuple):
    """A machine that is already in the lake as of some seq: it begins with the standing of then."""

    seq: int
    make: Callable[[Standing], Machine]


class Crew:
    """Follows each event once."""

    def __init__(
        self,
        standing: Standing,
        machines: Sequence[Machine] = (),
        beginners: Sequence[Beginner] = (),
        heartbeat_minute: int = -1,
        taken_at_ms: int | None = None,
    ) -> None:
        """`heartbeat_minute`: the last one kept; `taken_at_ms`: None if the lake holds nothing."""
        self.standing, self.machines = standing, [*machines]
        self._beginners = [*beginners]
        self._minute = heartbeat_minute
        self._taken_at_ms = taken_at_ms
        self._at_ms = 0

    def follow(self, events: Iterable[Event], around: Surroundings) -> None:
        """Take the events through, in their order."""
        for event in events:
            if event.op == "heartbeat" and not self._keeps(event):
                continue
            self._begin(event.seq)
            self._at_ms = max(self._at_ms, event.observed_at_ms)
            changes = self.standing.follow(event, around)
            for machine in self.machines:
                machine.follow(event, changes, self.standing, around)

    def _begin(self, seq: int) -> None:
        """Those begin whose tables do not hold this event yet."""
        waiting = self._beginners
        self._beginners = [each for each in waiting if each.seq >= seq]
        self.machines += [each.make(self.standing) for each in waiting if each.seq < seq]

    def _keeps(self, beat: Event) -> bool:
        minute = beat.observed_at_ms // HEARTBEAT_MS
        is_first = minute > self._minute
        self._minute = max(self._minute, minute)
        return is_first

    def take(self, *, idle: bool = False) -> dict[str, Taken]:
        """What the tables must hold, of those with news; of all with `idle`, and once an hour."""
        is_due = self._taken_at_ms is None or self._at_ms - self._taken_at_ms >= _IDLE_MS
        if is_due:
            self._taken_at_ms = self._at_ms
        return {
            name: taken
            for machine in self.machines
            for name, taken in machine.take(idle=idle or is_due).items()
        }
