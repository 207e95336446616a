"""The release buffer: events leave in the order in which the connection delivered them.

A slot holds the place of an event whose value is still being read; everything behind it waits
(replies are FIFO: one round trip). Releasing is the only thing that gives a seq and the only
thing that changes the model, so log and model can never disagree. No clock, no I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from watcher.census import Census
from watcher.cluster_id import CLUSTER_ID, read_cluster_id
from watcher.drafts import Draft, publish_stat
from watcher.log.batch import Batch
from watcher.messages import ZnodeStat
from watcher.sealing import Sealed, Sealer
from watcher.tree import Tree, ZnodeRow
from zklake.events.envelope import VERSION, Event, Meta, Op, encode

# What a place costs beside its path and data: its event, its reading, its drafts.
SLOT_BYTES = 700


class Slot:
    """A place in the order of the log; `drafts` is None while the value is being read."""

    __slots__ = ("at_ms", "drafts", "size", "then", "zxid")

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
        # About how many bytes it holds.
        self.size = 0


class Ahead(NamedTuple):
    """What a path has come to while some of its events still wait for their release."""

    row: ZnodeRow | None
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
        # Of events that wait for Kafka, and of those that wait for a value.
        self.bytes_waiting = self.held_bytes = 0
        # The highest zxid seen; meta's is that of what was released: a restart goes on from there.
        self.zxid = meta.zxid
        self.sealed: deque[Batch] = deque()
        self.unreadable: set[str] = set(tree.list_unreadable())
        self._ahead: dict[str, Ahead] = {}
        self._cluster = cluster
        self._sealer = sealer
        self._batch_events = batch_events
        self._slots: deque[Slot] = deque()
        self._released_zxid = meta.zxid
        self._events: list[bytes] = []
        self._dirty: set[str] = set()
        self.census = Census(tree, self._dirty.add)

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
        self.census.forget()
        self.meta = msgspec.structs.replace(self.meta, complete=False)

    def append(self, slot: Slot, path: str = "") -> Slot:
        """Take the next place in the log; `path` is what an event without its value holds."""
        slot.zxid = self.zxid
        slot.size = SLOT_BYTES + len(path) + (_weigh(slot.drafts) if slot.drafts else 0)
        self.held_bytes += slot.size
        self._slots.append(slot)
        return slot

    def fill(self, slot: Slot, drafts: list[Draft]) -> None:
        """What was read for a place."""
        slot.drafts = drafts
        more = _weigh(drafts)
        slot.size += more
        self.held_bytes += more

    def row(self, path: str) -> ZnodeRow | None:
        """What is known of a path, counting events that still wait for their release."""
        path = self._sealer.path(path)
        ahead = self._ahead.get(path)
        return ahead.row if ahead is not None else self.tree.row(path)

    def expect(self, path: str, row: ZnodeRow | None, drafts: int) -> None:
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
            self.held_bytes -= slot.size
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
        path = self._sealer.path(draft.path)
        if path is not draft.path:
            draft = draft._replace(path=path)
        complete = self.meta.complete or draft.op == "in_sync"
        # A read may have shown the zxid of an event that came without one.
        own = (draft.zxid or 0) if draft.origin == "watch" else 0
        zxid = max(self._released_zxid, own)
        sealed = self._seal(draft)
        cluster_id = self.meta.cluster_id
        if path == CLUSTER_ID and draft.origin is not None:
            cluster_id = _name_cluster(draft.op, cluster_id, sealed.text if sealed else None)
        self.meta = Meta(
            self.meta.log_id, self.next_seq, zxid, at_ms, complete, VERSION, cluster_id
        )
        record = encode(self._event(draft, sealed))
        if draft.origin is not None:
            self._remember(draft, bytes.fromhex(sealed.data_hash) if sealed else b"")
        fidelity = sealed.fidelity if sealed else draft.fidelity
        self.missed_versions += draft.missed or 0
        self.unseen_lives += (draft.gap.lives or 0) if draft.gap else 0
        self._write(record, (draft.op, fidelity))

    def see(self, path: str, stat: ZnodeStat, data: bytes | None, at_ms: int) -> bool:
        """First sight of a znode, written at once: what a slot with its `read` draft would come to.

        The short way of a first scan, which is nearly all that it writes. False, and nothing
        done, when anything waits or the path is known already (or names the cluster).
        """
        path = self._sealer.path(path)
        # Without slots nothing is ahead of the model either.
        if self._slots or path in self.tree or path == CLUSTER_ID:
            return False
        meta = self.meta
        at_ms = max(at_ms, meta.observed_at_ms)
        self._released_zxid = self.zxid
        self.meta = meta = Meta(
            meta.log_id, meta.seq + 1, self.zxid, at_ms, meta.complete, VERSION, meta.cluster_id
        )
        text, b64, zlib_b64, data_hash, fidelity = self._sealer.seal(path, data)
        # By place, in the order of its fields: names would cost ten times as much.
        event = Event(
            self._cluster, meta.log_id, meta.seq, "read", at_ms, VERSION, path,
            self._sealer.kind(path), stat.mzxid, None, None, text, b64, zlib_b64, data_hash,
            fidelity, publish_stat(stat), "scan",
        )  # fmt: skip
        self.tree.put_seen(path, stat, bytes.fromhex(data_hash))
        self._dirty.add(path)
        self._write(encode(event), ("read", fidelity))
        return True

    def _write(self, record: bytes, kind: tuple[str, str]) -> None:
        self._events.append(record)
        self.bytes_waiting += len(record)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(self._events) >= self._batch_events:
            self.cut()

    def cut(self) -> None:
        """Close the open batch: its rows are the model as of its last event."""
        if self._events:
            rows = {path: self.tree.wire_row(path) for path in self._dirty}
            self.sealed.append(Batch(self._events, rows, self.meta))
            self._events = []
            self._dirty.clear()

    def take(self) -> Batch | None:
        """The oldest batch, cutting the open one when there is no other."""
        if not self.sealed:
            self.cut()
        if not self.sealed:
            return None
        batch = self.sealed.popleft()
        self.bytes_waiting -= sum(map(len, batch.events))
        return batch

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
            path=draft.path or None,
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
            log_ends=draft.log_ends,
            group_commit=draft.group_commit,
            group_state=draft.group_state,
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
            self.census.drop(path)
            self.census.count(draft, born=False)
            return
        known = self.tree.counted(path)
        self.tree.put(path, row, *self.census.first_counts(draft, known), data_hash)
        if draft.op == "create" or (draft.op == "unreadable" and known is None):
            self.census.count(draft, born=True)

    def _catch_up(self, path: str) -> None:
        ahead = self._ahead.pop(path, None)
        if ahead is not None and ahead.unreleased > 1:
            self._ahead[path] = Ahead(ahead.row, ahead.unreleased - 1)


def _weigh(drafts: list[Draft]) -> int:
    size = 0
    for draft in drafts:
        if draft.data:
            size += len(draft.data)
    return size


def _name_cluster(op: Op, known: str, data: str | None) -> str:
    """The cluster's id after an event of its znode."""
    if op == "delete":
        return ""
    return read_cluster_id(data.encode()) or known if data else known
