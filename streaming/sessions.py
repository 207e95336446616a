"""Which deletes of ephemerals were the end of their session, and which were single ones.

Pure. ZooKeeper removes all ephemerals of a session in one transaction, so the watcher sees their
deletes in one unbroken run; before 3.9 its events carry no zxid that would say so. A run is decided
once nothing of the session is left, or once another event breaks it. The delete of an ephemeral
whose session nobody could read breaks no run, and shares its end. Heartbeats do not count: most of
them are not kept; nor do samples, which are nothing that happened in ZooKeeper. A run
that a batch cuts in two is undecided: the batch then ends before it, and the run is folded with the
next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from streaming.frames import Closure
from streaming.sights import State, is_echo, is_touch, read_state
from zklake.events.envelope import Event
from zklake.events.payloads.reading import read_number
from zklake.events.samples import SAMPLE_OPS

# The kinds of znode that may go with a session (a topic only where somebody made it so), and
# where in the path the key's numbers stand: a name that is no number makes no row.
EPHEMERAL_KINDS = {
    "broker": 3,
    "controller": None,
    "topic": None,
    "topic_broker": 4,
    "consumer": None,
    "owner": 5,
}
# What breaks no run.
PASSING = ("heartbeat", *SAMPLE_OPS)

# Deletes of one transaction reach the watcher together: one later than this begins another run.
_RUN_MS = 500


@dataclass
class Ephemeral:
    """An ephemeral as its open row tells it."""

    session: int
    state: State
    seen_seq: int


@dataclass
class _Run:
    session: int
    first_seq: int
    last_seq: int
    last_at_ms: int
    gone: dict[str, Ephemeral] = field(default_factory=dict)


@dataclass
class Sessions:
    """The ephemerals of one cluster that are alive, by path."""

    alive: dict[str, Ephemeral] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)
    _run: _Run | None = None

    @classmethod
    def of(cls, alive: Mapping[str, Ephemeral]) -> Self:
        """Start from what the lake's open rows say."""
        sessions = cls()
        for path, ephemeral in alive.items():
            sessions._add(path, ephemeral)
        return sessions

    def follow(
        self,
        events: Iterable[Event],
        closures: Mapping[int, Closure],
        last_seq: int,
        *,
        final: bool,
        breaks: Collection[int] | None = None,
    ) -> tuple[list[tuple[int, int]], int | None]:
        """Ranges of seq whose deletes end a session; and the seq at which the batch must be cut.

        `events` hold everything about ephemerals, every heartbeat and sample; a jump in seq is some
        other event. `last_seq` is the batch's. With `final`, nothing follows: an open run is
        decided. Where heartbeats are missing, `breaks` names the events right before which another
        stood.
        """
        ranges: list[tuple[int, int]] = []
        expected = None
        for event in events:
            is_jump = expected is not None and event.seq != expected
            if is_jump if breaks is None else event.seq in breaks:
                self._run = None
            expected = event.seq + 1
            if event.op in PASSING:
                self._pass(event.observed_at_ms)
            elif event.op != "seq_repeat":
                closed = self._take(event)
                ranges += [closed] if closed else []
            if closure := closures.get(event.seq):
                self._close(closure)
        if expected is not None and expected <= last_seq:
            self._run = None
        return ranges, None if final else self._cut()

    def _cut(self) -> int | None:
        """Take the open run back: it comes again with the next batch."""
        run, self._run = self._run, None
        if run is None:
            return None
        for path, ephemeral in run.gone.items():
            self._add(path, ephemeral)
        return run.first_seq

    def _pass(self, at_ms: int) -> None:
        if self._run is not None and at_ms - self._run.last_at_ms >= _RUN_MS:
            self._run = None

    def _take(self, event: Event) -> tuple[int, int] | None:
        path = _find_row(event)
        if path is None:
            self._run = None
            return None
        known = self.alive.get(path)
        if event.op == "delete" and event.origin == "watch" and known is not None:
            return self._take_delete(event, path, known)
        if event.op == "delete" and event.origin == "watch" and event.kind != "topic":
            return None  # gone before it could be read: perhaps the same session's
        self._run = None
        if event.op == "delete":
            self._remove(path)
        elif event.op in ("create", "set", "read", "unreadable"):
            self._see(event, path, known)
        return None

    def _take_delete(self, event: Event, path: str, known: Ephemeral) -> tuple[int, int] | None:
        run = self._run
        is_late = run is not None and event.observed_at_ms - run.last_at_ms >= _RUN_MS
        if run is None or run.session != known.session or is_late:
            run = self._run = _Run(known.session, event.seq, event.seq, event.observed_at_ms)
        run.gone[path] = known
        run.last_seq, run.last_at_ms = event.seq, event.observed_at_ms
        self._remove(path)
        if self._counts.get(known.session):
            return None
        self._run = None
        return run.first_seq, run.last_seq

    def _see(self, event: Event, path: str, known: Ephemeral | None) -> None:
        """The same rules by which a row begins, or is only seen."""
        if is_touch(event) or (known is not None and is_echo(event, known.state)):
            if known is not None:
                known.seen_seq = event.seq
            return
        self._remove(path)
        session = event.stat.ephemeral_owner if event.stat else None
        if session:
            self._add(path, Ephemeral(session, read_state(event), event.seq))

    def _close(self, closure: Closure) -> None:
        unseen = [p for p, known in self.alive.items() if known.seen_seq < closure.begin_seq]
        for path in unseen:
            self._remove(path)

    def _add(self, path: str, ephemeral: Ephemeral) -> None:
        self.alive[path] = ephemeral
        self._counts[ephemeral.session] = self._counts.get(ephemeral.session, 0) + 1

    def _remove(self, path: str) -> None:
        known = self.alive.pop(path, None)
        if known is None:
            return
        left = self._counts[known.session] - 1
        if left:
            self._counts[known.session] = left
        else:
            del self._counts[known.session]


def _find_row(event: Event) -> str | None:
    """The path by which the row of an ephemeral is known; None: it makes no row."""
    if event.kind not in EPHEMERAL_KINDS or event.path is None:
        return None
    place = EPHEMERAL_KINDS[event.kind]
    if place is None:
        return event.path
    parts = event.path.split("/")
    numbers = [read_number(number) for number in parts[place].split("-")]
    if None in numbers:
        return None
    parts[place] = "-".join(map(str, numbers))
    return "/".join(parts)
