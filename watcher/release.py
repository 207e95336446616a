"""The release buffer: events leave in the order in which the connection told them.

A slot holds the place of an event whose value is still being read; everything behind it waits
(replies are FIFO: one round trip). Releasing is the only thing that gives a seq and the only
thing that changes the model, so log and model can never disagree. No clock, no I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import msgspec

from watcher.drafts import Draft
from watcher.log.batch import Batch
from watcher.messages import ZnodeStat
from watcher.tree import Counted, Row, Tree, parent_of
from zklake.events.envelope import Event, Fidelity, Meta, encode

# The cversion of a parent whose birth nobody saw, until a scan has met all its children: which of
# its child changes were told before it was itself is unknown. (The root's real one starts at -1.)
UNCOUNTED = -(1 << 31)


class Sealed(NamedTuple):
    """Data as it may leave the process: text or base64, or nothing, and a keyed hash."""

    text: str | None
    b64: str | None
    zlib_b64: str | None
    data_hash: str
    fidelity: Fidelity


class Sealer(Protocol):
    """Decides what of a znode may be published."""

    def seal(self, path: str, data: bytes | None) -> Sealed:
        """Redact, encode and hash the data of one znode."""
        ...

    def kind(self, path: str) -> str:
        """The kind of znode a path names."""
        ...

    def path(self, path: str) -> str:
        """The path as it may be published; a sealed path stays as it is."""
        ...


class Slot:
    """A place in the order of the log; `drafts` is None while the value is being read."""

    __slots__ = ("at_ms", "drafts", "then", "zxid")

    def __init__(
        self,
        at_ms: int,
        drafts: list[Draft] | None = None,
        then: Callable[[int], None] | None = None,
    ) -> None:
        self.at_ms = at_ms
        self.drafts = drafts
        # Runs when everything up to this place is in the log.
        self.then = then
        # The highest zxid seen when the place was taken: all up to it stands before or here.
        self.zxid = 0


class Ahead(NamedTuple):
    """What a path has come to while some of its events still wait for their release."""

    row: Row | None
    unreleased: int


class Release:
    """Slots in, batches out."""

    def __init__(
        self, cluster: str, meta: Meta, tree: Tree, sealer: Sealer, batch_events: int = 5000
    ) -> None:
        self.tree = tree
        self.meta = meta
        self.counts: dict[tuple[str, str], int] = {}
        self.missed_versions = self.unseen_lives = 0
        self.bytes_waiting = 0
        # The highest zxid seen; meta's is that of what was released: a restart goes on from there.
        self.zxid = meta.zxid
        self.sealed: deque[Batch] = deque()
        # Child creates + deletes that a parent's cversion shows and no event has told yet.
        self.debt: dict[str, int] = {}
        self.unreadable: set[str] = set()
        # Parents still uncounted, as their read showed them: cversion and children.
        self._first_counts: dict[str, tuple[int, int]] = {}
        # Child changes told of a parent not in the model yet: how many, and the children left.
        self._early: dict[str, tuple[int, int]] = {}
        self._ahead: dict[str, Ahead] = {}
        self._cluster = cluster
        self._sealer = sealer
        self._batch_events = batch_events
        self._slots: deque[Slot] = deque()
        self._released_zxid = meta.zxid
        self._events: list[bytes] = []
        self._dirty: set[str] = set()

    @property
    def next_seq(self) -> int:
        """The seq of the next event."""
        return self.meta.seq + 1

    @property
    def waiting(self) -> int:
        """Events that wait for a value to be read."""
        return len(self._slots)

    def forget(self, paths: Iterable[str]) -> None:
        """Rows of the tree topic that nobody vouches for go with the next batch."""
        self._dirty.update(paths)

    def lose_model(self) -> None:
        """Another history: czxid and version prove nothing, a frame has to say all anew."""
        known = list(self.tree)
        self.forget(known)
        for path in known:
            self.tree.drop(path)
        self.unreadable.clear()
        self.forget_debts()
        self.meta = msgspec.structs.replace(self.meta, complete=False)

    def append(self, slot: Slot) -> Slot:
        """Take the next place in the log."""
        slot.zxid = self.zxid
        self._slots.append(slot)
        return slot

    def row(self, path: str) -> Row | None:
        """What is known of a path, counting events that still wait for their release."""
        path = self._sealer.path(path)
        ahead = self._ahead.get(path)
        return ahead.row if ahead is not None else self.tree.row(path)

    def expect(self, path: str, row: Row | None, drafts: int) -> None:
        """A path has come to `row`; so many drafts are on their way to say so."""
        if drafts:
            path = self._sealer.path(path)
            before = self._ahead.get(path)
            self._ahead[path] = Ahead(row, drafts + (before.unreleased if before else 0))

    def sealed_path(self, path: str) -> str:
        """The path under which the model keeps a znode."""
        return self._sealer.path(path)

    def known_paths(self) -> list[str]:
        """Every path that exists as far as we know."""
        ahead = self._ahead
        known = [path for path in self.tree if path not in ahead]
        return known + [path for path, state in ahead.items() if state.row is not None]

    def has_children(self, path: str) -> bool:
        """Does the log know children of this znode?"""
        known = self.tree.counted(self._sealer.path(path))
        return known is not None and known.num_children > 0

    def run(self) -> None:
        """Release every event that waits for nothing."""
        slots = self._slots
        while slots and slots[0].drafts is not None:
            slot = slots.popleft()
            assert slot.drafts is not None
            self._released_zxid = slot.zxid
            for draft in slot.drafts:
                self.emit(draft, slot.at_ms)
            if slot.then is not None:
                slot.then(slot.at_ms)

    def emit(self, draft: Draft, at_ms: int) -> None:
        """Give a draft its seq, put it into the open batch and the model."""
        # A wall clock may step back; observed_at never does, also across restarts.
        at_ms = max(at_ms, self.meta.observed_at_ms)
        draft = draft._replace(path=self._sealer.path(draft.path))
        complete = self.meta.complete or draft.op == "in_sync"
        # A read may have shown the zxid of an event that came without one.
        own = (draft.zxid or 0) if draft.origin == "watch" else 0
        zxid = max(self._released_zxid, own)
        self.meta = Meta(self.meta.log_id, self.next_seq, zxid, at_ms, complete)
        sealed = self._seal(draft)
        record = encode(self._event(draft, sealed))
        if draft.origin is not None:
            self._remember(draft, bytes.fromhex(sealed.data_hash) if sealed else b"")
        self._events.append(record)
        self.bytes_waiting += len(record)
        key = (draft.op, sealed.fidelity if sealed else draft.fidelity)
        self.counts[key] = self.counts.get(key, 0) + 1
        self.missed_versions += draft.missed or 0
        self.unseen_lives += (draft.gap.lives or 0) if draft.gap else 0
        if len(self._events) >= self._batch_events:
            self.cut()

    def cut(self) -> None:
        """Close the open batch: its rows are the model as of its last event."""
        if self._events:
            rows = {path: self.tree.wire_row(path) for path in self._dirty}
            self.sealed.append(Batch(self._events, rows, self.meta))
            self._events, self._dirty = [], set()

    def take(self) -> Batch | None:
        """The oldest batch, cutting the open one when there is no other."""
        if not self.sealed:
            self.cut()
        if not self.sealed:
            return None
        batch = self.sealed.popleft()
        self.bytes_waiting -= sum(map(len, batch.events))
        return batch

    def owe(self, path: str, stat: ZnodeStat) -> None:
        """A parent was read: its cversion says how many child changes there really were."""
        path = self._sealer.path(path)
        known = self.tree.counted(path)
        if known is None or known.row.czxid != stat.czxid:
            return
        self.debt.pop(path, None)
        if known.cversion == UNCOUNTED:
            self._first_counts[path] = (stat.cversion, stat.num_children)
        elif stat.cversion != known.cversion:
            self.debt[path] = stat.cversion - known.cversion

    def forget_debts(self) -> None:
        """The scan that would have settled them broke off."""
        self.debt.clear()
        self._early.clear()
        self._first_counts.clear()

    def start_counting(self, path: str, cversion: int, num_children: int) -> None:
        """First sight of a parent: count its children's changes from here."""
        path = self._sealer.path(path)
        self.tree.set_counts(path, cversion, num_children)
        self._dirty.add(path)

    def settle_debts(self) -> Iterator[tuple[str, int]]:
        """Parents under which lives came and went unseen, with their number: two changes each.

        A parent's count is put right as it is handed out: its row and what is said of it must
        stand in one batch.
        """
        debts, self.debt = self.debt, {}
        for path, counts in self._first_counts.items():
            self.start_counting(path, *counts)
        self._first_counts.clear()
        for path, owed in sorted(debts.items()):
            known = self.tree.counted(path)
            if known is None or owed == 0:
                continue
            self.start_counting(path, known.cversion + owed, known.num_children)
            if owed > 1:
                yield path, owed // 2
        self._early.clear()

    def _seal(self, draft: Draft) -> Sealed | None:
        has_value = draft.fidelity == "exact" and draft.op in ("create", "set", "read")
        return self._sealer.seal(draft.path, draft.data) if has_value else None

    def _event(self, draft: Draft, sealed: Sealed | None) -> Event:
        return Event(
            cluster=self._cluster,
            log_id=self.meta.log_id,
            seq=self.meta.seq,
            op=draft.op,
            observed_at_ms=self.meta.observed_at_ms,
            path=draft.path,
            kind=self._sealer.kind(draft.path) if draft.origin else None,
            zxid=draft.zxid,
            zxid_min=draft.zxid_min,
            data=sealed.text if sealed else None,
            data_b64=sealed.b64 if sealed else None,
            data_zlib_b64=sealed.zlib_b64 if sealed else None,
            data_hash=sealed.data_hash if sealed else None,
            fidelity=sealed.fidelity if sealed else draft.fidelity,
            stat=draft.stat,
            origin=draft.origin,
            missed=draft.missed,
            gap=draft.gap,
            frame=draft.frame,
        )

    def _remember(self, draft: Draft, data_hash: bytes) -> None:
        path, row = draft.path, draft.row
        self._catch_up(path)
        self._dirty.add(path)
        if row is not None and row.unreadable:
            self.unreadable.add(path)
        else:
            self.unreadable.discard(path)
        if row is None:
            self.tree.drop(path)
            self._early.pop(path, None)
            self.debt.pop(path, None)
            self._first_counts.pop(path, None)
            self._count(path, draft, born=False)
            return
        known = self.tree.counted(path)
        self.tree.put(path, row, *self._child_counts(draft, known), data_hash)
        if draft.op == "create" or (draft.op == "unreadable" and known is None):
            self._count(path, draft, born=True)

    def _catch_up(self, path: str) -> None:
        ahead = self._ahead.pop(path, None)
        if ahead is not None and ahead.unreleased > 1:
            self._ahead[path] = Ahead(ahead.row, ahead.unreleased - 1)

    def _count(self, path: str, draft: Draft, born: bool) -> None:
        if draft.origin == "scan":
            # Without a model nothing is counted: the parent's own cversion starts the count.
            return
        parent = parent_of(path)
        if parent is None:
            return
        known = self.tree.counted(parent)
        if known is None and not born and draft.origin != "watch":
            # A child of a parent that is gone, like its count.
            return
        if known is None:
            changes, left = self._early.get(parent, (0, 0))
            self._early[parent] = (changes + 1, left + (1 if born else -1))
            return
        if draft.stat is not None and 0 < (draft.stat.czxid or 0) < known.row.czxid:
            # A child of the parent's former life: its count went with that.
            return
        self._dirty.add(parent)
        if known.cversion == UNCOUNTED:
            self._count_uncounted(parent, known.num_children, born, draft.origin == "watch")
            return
        self.tree.count_child(parent, born)
        if draft.origin != "watch":
            # Also below zero: the parent may be another life than the one we counted.
            self.debt[parent] = self.debt.get(parent, 0) - 1

    def _count_uncounted(self, parent: str, num_children: int, born: bool, watched: bool) -> None:
        step = 1 if born else -1
        self.tree.set_counts(parent, UNCOUNTED, num_children + step)
        if watched and parent in self._first_counts:
            cversion, children = self._first_counts[parent]
            self._first_counts[parent] = (cversion + 1, children + step)

    def _child_counts(self, draft: Draft, known: Counted | None) -> tuple[int, int]:
        """A life born in sight starts with what was told of it, an unseen one uncounted."""
        if draft.op != "create" and known is not None:
            return known.cversion, known.num_children
        changes, left = self._early.pop(draft.path, (0, 0))
        return (changes if draft.origin == "watch" else UNCOUNTED), left
