"""Reads the published events once, in order: what was in sight, what blind, what inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.alignment import Alignment
from tests.reference.blackout import Blackout
from tests.reference.connection import Connection, split_connections
from tests.reference.ledger import Ledger
from tests.reference.lives import Life
from tests.reference.naming import Inferred, Naming
from tests.reference.published import CHANGE_OPS, Published, parse
from tests.reference.tree import split


class Reckoning:
    """The walk over one log of events."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.alignment = Alignment(ledger)
        # Until the first in_sync nothing is promised of what was before.
        self.blackout = Blackout(is_first=True)
        self.blackouts = [self.blackout]
        self.coalescing = False
        self.connection = Connection([], None)
        self.heard_zxid: int | None = None
        self.inferred: Inferred = []
        self.naming = Naming(ledger, self.inferred)
        # The last change inferred on each path, and the paths of the frame that is under way.
        self.latest: dict[str, int] = {}
        self.frame: set[str] | None = None
        self.unframed: list[tuple[Blackout, Life, Published]] = []

    def run(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take every record."""
        events = [parse(record) for record in records]
        self.coalescing = any(event.gap.get("coalescing") for event in events)
        for self.connection in split_connections(events):
            for event in self.connection.events:
                self._take(event)
            if self.connection.ended_by is not None:
                self._lose_sight(self.connection.ended_by)
        self.blackout.blind |= self.alignment.finish()
        if self.coalescing and self.blackout.coalescing:
            self._blur_first_look()
        self._check_inferred()

    def find_unframed(self) -> list[str]:
        """Znodes that a frame left out although they were there."""
        return [
            f"{event}: the frame lacks {life.path}"
            for blackout, life, event in self.unframed
            if life.ended is None or life.ended not in blackout.blind
        ]

    def _take(self, event: Published) -> None:
        if self.frame is not None:
            self.frame.add(event.path)
        if event.op == "gap":
            self.blackout.lives[event.path] += event.gap["lives"]
        elif event.op == "frame_begin":
            self.frame = set()
        elif event.op == "in_sync":
            self._close_frame(event)
            self._take_in_sync(event)
        elif event.op == "heartbeat":
            self._hear(event.zxid)
        elif event.is_nameless:
            may_hide = self.blackout.is_open or self.coalescing
            may_hide = may_hide or self.ledger.is_below_sealed(event.path)
            self.naming.take(event, may_hide=may_hide)
        elif event.op in CHANGE_OPS:
            self._take_change(event)
        elif event.op == "read":
            self._take_read(event)
        elif event.op == "unreadable" and event.path not in self.ledger.sealed:
            self.ledger.phantoms.append(f"{event}: everybody may read it")

    def _hear(self, zxid: int | None) -> None:
        """The zxid the watcher had come to: the first after the first in_sync bounds that look."""
        if self.blackout.coalescing and self.heard_zxid is None:
            self.heard_zxid = zxid

    def _blur_first_look(self) -> None:
        """One-shot watches: a first look takes its time, and no event says when it counted the
        children of a parent. A life that was over by the next zxid named may lie before that."""
        first, until = self.blackouts[0], self.heard_zxid
        for life in self.ledger.lives.over_by(until, first.newest_zxid):
            indices = [i for i in (life.ended, *life.versions.values()) if i is not None]
            if life in first.seen or any(index in self.ledger.told for index in indices):
                continue
            self.blackout.blind -= set(indices)
            first.blind |= set(indices)
            self.blackout.renewed[split(life.path)[0]] += 1

    def _lose_sight(self, event: Published) -> None:
        self.frame = None
        from_zxid = event.gap.get("from_zxid")
        self._hear(from_zxid)
        self.naming.lose_sight(event, self.alignment.position, self.blackout)
        was_in_sight = self.alignment.in_sight
        self.alignment.lose_sight(from_zxid)
        if self.coalescing or self.blackout.is_open:
            return
        if not was_in_sight and from_zxid is not None:
            # In sync, then no event at all: what the gap before hid ends where this one begins.
            self.blackout.blind |= self.alignment.skip_to_zxid(from_zxid)
        self._open(Blackout())

    def _take_in_sync(self, event: Published) -> None:
        self.naming.refuse_all()
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

    def _take_change(self, event: Published) -> None:
        is_watched = event.origin == "watch" and not self.coalescing
        # What is below a sealed znode may be met at any time.
        may_infer = self.blackout.is_open or self.ledger.is_below_sealed(event.path)
        if event.op == "delete" and event.path in self.ledger.sealed and not is_watched:
            self._take_sealed_end(event)
        elif is_watched:
            self._take_watched(event)
        elif self.coalescing or may_infer:
            self._take_inferred(event)
        else:
            self.ledger.phantoms.append(f"{event}: inferred outside any gap")
        self.blackout.note(event, self.ledger.known.get(event.path))

    def _take_sealed_end(self, event: Published) -> None:
        """No event tells the end of a sealed znode: any look may find it."""
        life = self.ledger.lives.going_on(event.path, self.latest.get(event.path, -1) + 1)
        if life is None or life.ended is None:
            self.ledger.phantoms.append(f"{event}: it never ended")
        else:
            self.latest[event.path] = life.ended
            self.ledger.tell(event, life.ended)

    def _take_watched(self, event: Published) -> None:
        if not self.alignment.in_sight:
            run = self.connection.run(self.ledger)
            self.blackout.blind |= self.alignment.regain_sight(run)
        if not self.alignment.in_sight:
            self.ledger.phantoms.append(f"{event}: no such change in the log")
            return
        self.blackout.blind |= self.alignment.take(event)
        index = self.alignment.last
        if self.ledger.told.get(index) is event:
            life = self.ledger.lives.of_change[index]
            self.naming.name(event, life, self.blackout)
            self._check_number(event, life)

    def _check_number(self, event: Published, life: Life) -> None:
        """A set has a version unless a gap hid how often its life, now over, was set before."""
        if event.op != "set" or event.version is not None:
            return
        if self.ledger.is_below_sealed(event.path):
            return
        birth = self.ledger.told.get(-1 if life.born is None else life.born)
        was_born_here = birth in self.connection.events and birth.origin == "watch"
        if not self.blackout.is_open or life.ended is None or was_born_here:
            self.ledger.phantoms.append(f"{event}: no version, though it can be counted")

    def _take_inferred(self, event: Published) -> None:
        after = self.latest.get(event.path, -1) + 1
        self.naming.name_by_place(event.path, after, self.blackout)
        index = self.ledger.find_index(event)
        if index is None:
            self.ledger.phantoms.append(f"{event}: the log has no such life or version")
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
            self.naming.compare(event, life, self.blackout)
            self.ledger.know(event.path, life)
            self.ledger.check_value(event, life)
        elif event.path in self.ledger.lives.of_path:
            self.ledger.phantoms.append(f"{event}: the log has no such life or version")

    def _check_inferred(self) -> None:
        if self.coalescing:
            return
        for blackout, index, event in self.inferred:
            was_in_sight = index not in blackout.blind and not blackout.is_first
            if was_in_sight and not self.ledger.is_below_sealed(event.path):
                self.ledger.phantoms.append(f"{event}: inferred, yet it was in sight")
