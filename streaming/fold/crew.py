"""The standing of one cluster and the machines that watch it, taken through the log together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from streaming.fold.context import Context
from streaming.fold.machine import Machine, Taken
from streaming.fold.standing import Standing
from zklake.events.envelope import Event

# The znodes that machines follow; of others they only learn that time passes.
MACHINE_KINDS = frozenset(("consumer", "owner", "topic", "offset"))
ZNODE_OPS = frozenset(("create", "set", "delete", "read", "unreadable"))
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
        taken_at_ms: int | None = None,
    ) -> None:
        """`taken_at_ms`: None if the lake holds nothing."""
        self.standing, self.machines = standing, [*machines]
        self._beginners = [*beginners]
        self._taken_at_ms = taken_at_ms
        self._at_ms = 0
        # Seq and time of the last event that no machine was told of.
        self._untold: tuple[int, int] | None = None

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        if self._beginners:
            self._tell_time()
            self._begin(event.seq)
        if event.kind not in MACHINE_KINDS and event.op in ZNODE_OPS:
            self._untold = event.seq, event.observed_at_ms
            return
        self._tell_time()
        self._at_ms = max(self._at_ms, event.observed_at_ms)
        changes = self.standing.follow(event, context)
        for machine in self.machines:
            machine.follow(event, changes, self.standing, context)

    def pass_time(self, seq: int, at_ms: int) -> None:
        """Events that change nothing here came, up to that one."""
        if self._beginners:
            self._begin(seq)
        self._untold = seq, at_ms

    def _tell_time(self) -> None:
        untold, self._untold = self._untold, None
        if untold is not None:
            self._at_ms = max(self._at_ms, untold[1])
            for machine in self.machines:
                machine.pass_time(*untold)

    def _begin(self, seq: int) -> None:
        """Those begin whose tables do not hold this event yet."""
        waiting = self._beginners
        self._beginners = [each for each in waiting if each.seq >= seq]
        self.machines += [each.make(self.standing) for each in waiting if each.seq < seq]

    def take(self, *, idle: bool = False) -> dict[str, Taken]:
        """What the tables must hold, of those with news; of all with `idle`, and once an hour."""
        self._tell_time()
        is_due = self._taken_at_ms is None or self._at_ms - self._taken_at_ms >= _IDLE_MS
        if is_due:
            self._taken_at_ms = self._at_ms
        return {
            name: taken
            for machine in self.machines
            for name, taken in machine.take(idle=idle or is_due).items()
        }
