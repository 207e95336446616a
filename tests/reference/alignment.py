"""Walks the watch events beside the log: in sight, each event is the next change, no other.

On a connection that came in sync the watch events must be the log's own sequence without a hole.
On one that broke before, a path is told wholly from the moment sight returned, or not at all: its
events wait for a read that never came, and the gap that is still open hides them. Only the place
where sight returned has to be found, by zxid where events carry it, else by what fits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from tests.reference.ledger import Ledger
from tests.reference.published import Published, tells

# How far to look for a change when the next one does not fit: beyond, the event is a phantom.
_LOOKAHEAD = 20_000


class Run(NamedTuple):
    """The first watch events of a time in sight."""

    events: list[Published]
    # Up to where they must tell all, when these are all of them and that is known.
    until_zxid: float | None
    # The paths that are told; None: every path, the connection came in sync.
    paths: frozenset[str] | None = None
    # What this scan inferred had happened before sight returned: the first index after it.
    start: int = 0


class Alignment:
    """A cursor on the log. Changes of ACLs have no event and are passed over."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.changes = ledger.changes
        self.position = 0
        self.in_sight = False
        self.paths: frozenset[str] | None = None
        self.dropped: dict[int, None] = {}
        self.last_zxid = self.last = -1

    def lose_sight(self, from_zxid: int | None) -> None:
        """A gap opens: everything up to the zxid it names must have been told."""
        if self.in_sight and from_zxid is not None and self.paths is None:
            self._drop_until(self._index_after(from_zxid), keep_zxid=self.last_zxid)
        self.in_sight = False

    def regain_sight(self, run: Run) -> set[int]:
        """Find where these events begin; returns the changes passed over, unseen."""
        self.paths = run.paths
        start = self._find_start(run)
        if start is None:
            return set()
        self.in_sight = True
        return self._skip_to(start)

    def skip_to_zxid(self, zxid: int) -> set[int]:
        """Pass over everything up to a zxid, unseen."""
        return self._skip_to(self._index_after(zxid))

    def take(self, event: Published) -> set[int]:
        """The next watch event, in sight; returns the changes that this connection left out."""
        start = self.position
        for index in self._front(start, self.ledger.told):
            if tells(event, self.changes[index]):
                self._tell(event, index)
                return {i for i in range(start, index) if self._is_left_out(i)}
        self._take_misplaced(event)
        return set()

    def finish(self) -> set[int]:
        """The log ends: what is left was dropped, or unseen when sight never returned."""
        end = len(self.changes)
        if not self.in_sight:
            return self._skip_to(end)
        self._drop_until(end)
        return set()

    def _take_misplaced(self, event: Published) -> None:
        stop = min(len(self.changes), self.position + _LOOKAHEAD)
        for index in range(self.position, stop):
            if index not in self.ledger.told and tells(event, self.changes[index]):
                self._drop_until(index)
                self._tell(event, index)
                return
        for index in self.dropped:
            if tells(event, self.changes[index]):
                del self.dropped[index]
                self.ledger.tell(event, index)
                self.ledger.out_of_order.append(f"{event}: later changes were told before it")
                return
        self.ledger.phantoms.append(f"{event}: no such change in the log")

    def _tell(self, event: Published, index: int) -> None:
        self.ledger.tell(event, index)
        self.last = index
        self.last_zxid = self.changes[index].zxid
        if not self.changes[index].session_close:
            self.position = max(self.position, index + 1)
        while self.position < len(self.changes) and self.position in self.ledger.told:
            self.position += 1

    def _front(self, start: int, taken: Collection[int]) -> Iterator[int]:
        """Which changes may come next: one; or any of a closing session; sealed ones may lack."""
        index = start
        while index < len(self.changes):
            change = self.changes[index]
            if index not in taken and change.op != "set_acl":
                yield index
                if change.session_close:
                    yield from self._rest_of_close(index, taken)
                if not self._may_lack(index):
                    return
            index += 1

    def _rest_of_close(self, index: int, taken: Collection[int]) -> Iterator[int]:
        zxid = self.changes[index].zxid
        for other in range(index + 1, len(self.changes)):
            if self.changes[other].zxid != zxid:
                return
            if other not in taken:
                yield other

    def _may_lack(self, index: int) -> bool:
        return self.ledger.is_sealed(index) or self._is_left_out(index)

    def _is_left_out(self, index: int) -> bool:
        """On a connection that never came in sync no event of this path was told."""
        return self.paths is not None and self.changes[index].path not in self.paths

    def _find_start(self, run: Run) -> int | None:
        possible = [
            index
            for index in range(max(self.position, run.start), len(self.changes))
            if tells(run.events[0], self.changes[index])
        ]
        fitting = (index for index in possible if self._fits(index, run))
        return self._start_of_close(next(fitting, possible[0] if possible else None))

    def _start_of_close(self, index: int | None) -> int | None:
        """Sight returns between transactions: then a closing session is seen as a whole."""
        while index and self.changes[index].session_close and index > self.position:
            if self.changes[index - 1].zxid != self.changes[index].zxid:
                break
            index -= 1
        return index

    def _fits(self, start: int, run: Run) -> bool:
        taken: set[int] = set()
        position = start
        for event in run.events:
            front = self._front(position, taken)
            index = next((i for i in front if tells(event, self.changes[i])), None)
            if index is None:
                return False
            taken.add(index)
            if not self.changes[index].session_close:
                position = index + 1
        return run.until_zxid is None or self._is_all_told(position, taken, run.until_zxid)

    def _is_all_told(self, position: int, taken: set[int], until_zxid: float) -> bool:
        last_zxid = max(self.changes[index].zxid for index in taken)
        due = (i for i in self._front(position, taken) if not self._may_lack(i))
        index = next(due, None)
        return (
            index is None
            or self.changes[index].zxid > until_zxid
            or (self.changes[index].zxid == last_zxid)
        )

    def _skip_to(self, end: int) -> set[int]:
        # What a scan inferred meanwhile is told, and was unseen all the same.
        told = self.ledger.told
        span = range(self.position, end)
        self.position = max(self.position, end)
        return {index for index in span if index not in told or told[index].origin != "watch"}

    def _drop_until(self, end: int, keep_zxid: int | None = None) -> None:
        """Changes in sight that no event told. `keep_zxid`: the rest of a half-seen transaction."""
        for index in range(self.position, end):
            change = self.changes[index]
            if change.zxid == keep_zxid:
                return
            is_due = change.op != "set_acl" and not self._may_lack(index)
            if is_due and index not in self.ledger.told:
                self.dropped[index] = None
            self.position = index + 1

    def _index_after(self, zxid: int) -> int:
        index = self.position
        while index < len(self.changes) and self.changes[index].zxid <= zxid:
            index += 1
        return index
