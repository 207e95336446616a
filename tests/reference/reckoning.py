"""Reads the published events once, in order: what was in sight, what blind, what inferred."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.alignment import Alignment, Run
from tests.reference.blackout import Blackout
from tests.reference.ledger import Ledger
from tests.reference.lives import Life
from tests.reference.published import CHANGE_OPS, Published, parse

# How many events in a row must fit the log where sight returned and no zxid says so.
_FIT = 40


class Reckoning:
    """The walk over one log of events."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.alignment = Alignment(ledger)
        # Until the first in_sync nothing is promised of what was before.
        self.blackout = Blackout(is_first=True)
        self.blackouts = [self.blackout]
        self.events: list[Published] = []
        self.coalescing = False
        self.inferred: list[tuple[Blackout, int, Published]] = []
        # The last change inferred on each path, and the paths of the frame that is under way.
        self.latest: dict[str, int] = {}
        self.frame: set[str] | None = None
        self.unframed: list[tuple[Blackout, Life, Published]] = []

    def run(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take every record."""
        self.events = [parse(record) for record in records]
        self.coalescing = any(event.gap.get("coalescing") for event in self.events)
        for number, event in enumerate(self.events):
            self._take(number, event)
        self.blackout.blind |= self.alignment.finish()
        self._check_inferred()

    def find_unframed(self) -> list[str]:
        """Znodes that a frame left out although they were there."""
        return [
            f"{event}: the frame lacks {life.path}"
            for blackout, life, event in self.unframed
            if life.ended is None or life.ended not in blackout.blind
        ]

    def _take(self, number: int, event: Published) -> None:
        if self.frame is not None:
            self.frame.add(event.path)
        if event.op == "gap":
            self._take_gap(event)
        elif event.op == "frame_begin":
            self.frame = set()
        elif event.op == "in_sync":
            self._close_frame(event)
            self._take_in_sync(event)
        elif event.op in CHANGE_OPS:
            self._take_change(number, event)
        elif event.op == "read":
            self._take_read(event)
        elif event.op == "unreadable" and event.path not in self.ledger.sealed:
            self.ledger.phantoms.append(f"{event}: everybody may read it")

    def _take_gap(self, event: Published) -> None:
        if not event.opens_gap:
            self.blackout.lives[event.path] += event.gap["lives"]
            return
        self.frame = None
        from_zxid = event.gap.get("from_zxid")
        was_in_sight = self.alignment.in_sight
        self.alignment.lose_sight(from_zxid)
        if self.coalescing or self.blackout.is_open:
            return
        if not was_in_sight and from_zxid is not None:
            # In sync, then no event at all: what the gap before hid ends where this one begins.
            self.blackout.blind |= self.alignment.skip_to_zxid(from_zxid)
        self._open(Blackout())

    def _take_in_sync(self, event: Published) -> None:
        if self.blackout.is_open:
            self.blackout.end_seq = event.seq
            self.blackout.base = event.frame.get("base") or "model"
        if self.coalescing and self.blackout.is_first:
            self.blackout.blind |= self.alignment.skip_to_zxid(self.blackout.newest_zxid)
            self._open(Blackout(coalescing=True))

    def _close_frame(self, event: Published) -> None:
        if self.frame is None:
            return
        for path in self.ledger.known.keys() - self.frame - self.ledger.sealed:
            self.unframed.append((self.blackout, self.ledger.known.pop(path), event))
        self.frame = None

    def _open(self, blackout: Blackout) -> None:
        self.blackout = blackout
        self.blackouts.append(blackout)

    def _take_change(self, number: int, event: Published) -> None:
        if event.origin == "watch" and not self.coalescing:
            self._take_watched(number, event)
        elif self.coalescing or self.blackout.is_open:
            self._take_inferred(event)
        else:
            self.ledger.phantoms.append(f"{event}: inferred outside any gap")
        self.blackout.note(event, self.ledger.known.get(event.path))

    def _take_watched(self, number: int, event: Published) -> None:
        if not self.alignment.in_sight:
            self.blackout.blind |= self.alignment.regain_sight(self._run_from(number))
        if self.alignment.in_sight:
            self.alignment.take(event)
        else:
            self.ledger.phantoms.append(f"{event}: no such change in the log")

    def _run_from(self, number: int) -> Run:
        """The watch events from here to the next gap, or as many as tell their place for sure."""
        run: list[Published] = []
        for event in itertools.islice(self.events, number, None):
            if event.opens_gap:
                return Run(run, event.gap.get("from_zxid"))
            if event.op in CHANGE_OPS and event.origin == "watch":
                run.append(event)
            if len(run) == _FIT:
                return Run(run, None)
        return Run(run, math.inf)

    def _take_inferred(self, event: Published) -> None:
        life = self.ledger.find_life(event)
        if life is None or not (event.op == "delete" or event.version in life.versions):
            self.ledger.phantoms.append(f"{event}: the log has no such life or version")
            return
        told = {"create": life.born, "delete": life.ended}
        index = told.get(event.op, life.versions.get(event.version or 0))
        if index is None:
            self.ledger.phantoms.append(f"{event}: the log has no such {event.op}")
            return
        self.inferred.append((self.blackout, index, event))
        if index < self.latest.get(event.path, -1):
            self.ledger.out_of_order.append(f"{event}: a later change of it was told before")
        self.latest[event.path] = index
        if event.op == "create":
            self._tell_create(event, index)
        else:
            self.ledger.tell(event, index)

    def _tell_create(self, event: Published, index: int) -> None:
        """An inferred create carries the value of its latest version; the others were missed."""
        life = self.ledger.lives.of_change[index]
        latest = event.version or 0
        if latest == event.missed == 0:
            self.ledger.tell(event, index)
            return
        self.ledger.tell(event._replace(fidelity="superseded", data=None), index)
        self.ledger.cover_versions(event, life, range(latest - event.missed + 1, latest + 1))
        self.ledger.check_value(event, life)

    def _take_read(self, event: Published) -> None:
        life = self.ledger.find_life(event)
        self.blackout.note(event, life)
        if life is not None:
            self.ledger.known[event.path] = life
            self.ledger.check_value(event, life)
        elif event.path in self.ledger.lives.of_path:
            self.ledger.phantoms.append(f"{event}: the log has no such life or version")

    def _check_inferred(self) -> None:
        if self.coalescing:
            return
        for blackout, index, event in self.inferred:
            if index not in blackout.blind and not blackout.is_first:
                self.ledger.phantoms.append(f"{event}: inferred, yet it was in sight")
