"""Which deletes of ephemerals were the end of their session, and which were single ones. Pure.

ZooKeeper removes all ephemerals of a session in one transaction, so the watcher sees their deletes
in one unbroken run; before 3.9 its events carry no zxid that would say so. A run is decided once
nothing of the session is left, or once another event breaks it. The delete of an ephemeral whose
session nobody could read breaks no run, and shares its end. Heartbeats do not count: most of them
are not kept; nor do samples, which are nothing that happened in ZooKeeper.

Until a run is decided its events are held back, and all that follow them: so whatever is folded
later knows of each delete what it was, wherever the log is cut into batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from streaming.log.continuity import Entry
from zklake.events.envelope import RECORDED_ORIGINS, SESSION_RUN_MS, Event
from zklake.events.samples import SAMPLE_OPS

# What breaks no run.
PASSING = ("heartbeat", *SAMPLE_OPS)


class Ephemeral(NamedTuple):
    """What is known of the znode that a delete removes."""

    # Where its row stands: (table, *key).
    place: tuple[object, ...]
    session: int | None
    # Whether znodes of its kind go with their sessions.
    is_ephemeral: bool


class Released(NamedTuple):
    """An entry of the log, and whether it is part of the end of a session."""

    entry: Entry
    closes_session: bool


class SessionRuns:
    """Takes the log through, entry by entry, and releases it in the same order."""

    def __init__(
        self,
        find_ephemeral: Callable[[Entry], Ephemeral | None],
        count_alive: Callable[[int], int],
    ) -> None:
        """`count_alive`: how many ephemerals of a session there are before what is held back."""
        self._find_ephemeral, self._count_alive = find_ephemeral, count_alive
        self._held: list[Entry] = []
        self._session: int | None = None
        self._gone: set[tuple[object, ...]] = set()
        self._last_ms = 0

    @property
    def held_seq(self) -> int | None:
        """From which seq on entries are held back."""
        return self._held[0].event.seq if self._held else None

    def passes(self, event: Event) -> bool:
        """Whether an event is released at once: nothing is held back, and it begins no run."""
        return not self._held and not (event.op == "delete" and event.origin in RECORDED_ORIGINS)

    def take(self, entry: Entry) -> Iterator[Released]:
        """Take one entry; what can be released by now, each before the next is asked for."""
        event = entry.event
        if event.op in PASSING:
            if event.observed_at_ms - self._last_ms >= SESSION_RUN_MS:
                yield from self.release()
            yield from self._hold_if_run(entry)
            return
        if event.op == "seq_repeat":
            yield from self._hold_if_run(entry)
            return
        known = None
        if event.op == "delete" and event.origin in RECORDED_ORIGINS:
            known = self._find_ephemeral(entry)
        session = None
        if known is not None and known.place not in self._gone:
            session = known.session
        if known is not None and session is not None:
            yield from self._take_delete(entry, known, session)
        elif known is not None and known.is_ephemeral:
            # Gone before it could be read: perhaps the same session's.
            yield from self._hold_if_run(entry)
        else:
            yield from self.release()
            yield Released(entry, False)

    def release(self, *, closes_session: bool = False) -> Iterator[Released]:
        """Let go of what is held back."""
        held, self._held, self._session = self._held, [], None
        self._gone = set()
        for entry in held:
            yield Released(entry, closes_session and entry.event.op == "delete")

    def _hold_if_run(self, entry: Entry) -> Iterator[Released]:
        if self._held:
            self._held.append(entry)
        else:
            yield Released(entry, False)

    def _take_delete(self, entry: Entry, known: Ephemeral, session: int) -> Iterator[Released]:
        is_late = entry.event.observed_at_ms - self._last_ms >= SESSION_RUN_MS
        if self._held and (self._session != session or is_late):
            yield from self.release()
        self._session, self._last_ms = session, entry.event.observed_at_ms
        self._held.append(entry)
        self._gone.add(known.place)
        if self._count_alive(session) <= len(self._gone):
            yield from self.release(closes_session=True)
