"""Znodes of a table whose rows are made elsewhere in this batch, for those who ask meanwhile. Pure.

Of each znode only the events are kept that can matter, and nobody folds them unless asked: that is
rare, and there may be very many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from streaming.fold.context import IN_SIGHT
from streaming.fold.frames import Closure
from streaming.fold.intervals import IntervalFold
from streaming.fold.life import is_touch
from streaming.fold.open_rows import Key, OpenRow
from zklake.events.envelope import Event

# Events of the table in order, all of a batch.
ReadEvents = Callable[[], Iterator[Event]]


class Apart:
    """One table: its rows as of the last event, be they folded here or elsewhere."""

    def __init__(self, fold: IntervalFold) -> None:
        self._fold = fold
        # By path: what said last how the znode is, and since then reads, which may only repeat it,
        # and writes that nobody could read: they show that it was there.
        self._events: dict[str, list[Event]] = {}
        # Complete looks that ended meanwhile: what they did not meet is gone.
        self._closures: list[Closure] = []
        # Where its events are read when somebody asks; None: they are noted as they come.
        self._read_events: ReadEvents | None = None
        self._unread: Iterator[Event] | None = None
        self._next: Event | None = None

    @property
    def table(self) -> str:
        """Its name."""
        return self._fold.table.name

    def close(self, closure: Closure) -> None:
        """A complete look ends here."""
        self._closures.append(closure)

    def begin(self, read_events: ReadEvents | None) -> None:
        """A batch begins; if its events can be read, they are so only when somebody asks."""
        self._read_events = read_events

    def read_up_to(self, seq: int) -> None:
        """Somebody asks how things stood before that event."""
        if self._read_events is None:
            return
        if self._unread is None:
            self._unread = self._read_events()
            self._next = next(self._unread, None)
        while self._next is not None and self._next.seq < seq:
            self._keep(self._next)
            self._next = next(self._unread, None)

    def note(self, event: Event) -> None:
        """An event of the table comes whose row is made elsewhere."""
        if self._read_events is None:
            self._keep(event)

    def _keep(self, event: Event) -> None:
        if event.seq <= self._fold.horizon:
            return
        path = event.path or ""
        if is_touch(event):
            self._note_touch(self._events.setdefault(path, []), event)
        elif event.op == "read":
            self._events.setdefault(path, []).append(event)
        else:
            self._events[path] = [event]

    def _note_touch(self, events: list[Event], event: Event) -> None:
        """Between two looks only the last one counts."""
        looked_seq = self._closures[-1].end_seq if self._closures else -1
        if events and is_touch(events[-1]) and events[-1].seq > looked_seq:
            events.pop()
        events.append(event)

    def settle(self) -> None:
        """The rows that were made elsewhere are here now."""
        self._events.clear()
        self._closures.clear()
        self._read_events = self._unread = self._next = None

    def list_rows(self) -> Iterator[tuple[Key, OpenRow]]:
        """Every row that is open."""
        changed = {} if not self._events else self._fold_all()
        for key, row in self._fold.open.items():
            if key not in changed and not self._is_closed(row):
                yield key, row
        yield from ((key, row) for key, row in changed.items() if row is not None)

    def find_row(self, key: Key, path: str) -> OpenRow | None:
        """The row of a key, which stands at that path."""
        if path in self._events:
            return self._fold_events(self._events[path])[1]
        row = self._fold.open.find_shard(key).get(key)
        return None if row is None or self._is_closed(row) else row

    def _is_closed(self, row: OpenRow) -> bool:
        """Whether a look did not meet a znode that had no events since."""
        return any(row.seen_seq < closure.begin_seq for closure in self._closures)

    def _fold_all(self) -> dict[Key, OpenRow | None]:
        return dict(self._fold_events(events) for events in self._events.values())

    def _fold_events(self, events: list[Event]) -> tuple[Key, OpenRow | None]:
        """What the table's own fold makes of them, aside."""
        spot = self._fold.find_spot(events[0])
        if spot is None:
            return (), None
        aside = IntervalFold(self._fold.table, self._fold.cluster, {})
        shard = aside.open.find_hashed(spot.hash)
        row = self._fold.open.find_hashed(spot.hash).get(spot.key)
        if row is not None:
            shard.put(spot.key, msgspec.structs.replace(row), touches=False)
        seq = -1
        for event in events:
            self._close(aside, spot.key, seq, event.seq)
            aside.apply(event, spot, IN_SIGHT, {})
            seq = event.seq
        self._close(aside, spot.key, seq, None)
        return spot.key, shard.get(spot.key)

    def _close(self, aside: IntervalFold, key: Key, seq: int, until_seq: int | None) -> None:
        """The looks that ended between two events; None: after the last."""
        for closure in self._closures:
            if seq < closure.end_seq and (until_seq is None or closure.end_seq < until_seq):
                aside.close_key(key, closure, IN_SIGHT.find_resync(closure))
