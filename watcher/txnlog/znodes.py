"""The tree as of one transaction: the stat of every znode, computed as ZooKeeper does. Pure.

Values are not kept: a million znodes take some 300 bytes each.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from watcher.messages import ZnodeStat
from watcher.tree import parent_of
from watcher.txnlog.snapshot_file import StoredZnode
from watcher.txnlog.transaction import UNKNOWN_CVERSION, Change, Transaction

# The fields of ZnodeStat, in its order; cversion as ZooKeeper stores it: creates of children alone.
_PACKED = Struct("<qqqqiiiqiiq")
_NOWHERE = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


class Znodes:
    """path -> packed stat, and the ephemerals of each session."""

    def __init__(self) -> None:
        self._stats: dict[str, bytes] = {}
        self._ephemerals: dict[int, set[str]] = {}

    def __len__(self) -> int:
        return len(self._stats)

    def load(self, stored: Iterable[StoredZnode], zxid: int) -> None:
        """Take a snapshot's tree, as far as it was there at that zxid."""
        self._stats, self._ephemerals = {}, {}
        for node in stored:
            if node.czxid <= zxid:
                self._put_stored(node)

    def _put_stored(self, node: StoredZnode) -> None:
        length = len(node.data or b"")
        self._put(
            node.path,
            ZnodeStat(
                node.czxid, node.mzxid, node.ctime, node.mtime, node.version, node.cversion,
                node.aversion, node.ephemeral_owner, length, 0, node.pzxid,
            ),
        )  # fmt: skip
        self._count_child(node.path, 1)

    def begin_empty(self) -> None:
        """The tree of an ensemble that has not written anything yet."""
        for path in ("/", "/zookeeper", "/zookeeper/quota"):
            self._put(path, ZnodeStat(*_NOWHERE))
            self._count_child(path, 1)

    def find(self, path: str) -> ZnodeStat | None:
        """The stat as a client reads it: cversion counts creates and deletes of children."""
        stat = self._find(path)
        if stat is None:
            return None
        return stat._replace(cversion=2 * stat.cversion - stat.num_children)

    def apply(self, transaction: Transaction, change: Change) -> ZnodeStat | None:
        """Apply create, set, delete or acl; the stat of what a delete removes, None: not known."""
        if change.op == "create":
            self._create(transaction, change)
        elif change.op == "delete":
            return self._delete(transaction, change.path)
        else:
            self._write(transaction, change)
        return None

    def list_closed(self, change: Change) -> list[str]:
        """What the end of a session deletes: as the log says, then what else it is known to own."""
        known = self._ephemerals.get(change.ephemeral_owner, set())
        return [*change.paths, *sorted(known.difference(change.paths), reverse=True)]

    def _create(self, transaction: Transaction, change: Change) -> None:
        path, (zxid, _, time_ms, _) = change.path, transaction
        # One that is known still: the log of its delete is missing.
        self._forget(path)
        length, owner = len(change.data or b""), change.ephemeral_owner
        self._put(path, ZnodeStat(zxid, zxid, time_ms, time_ms, 0, 0, 0, owner, length, 0, zxid))
        self._count_child(path, 1)
        parent = parent_of(path)
        stat = None if parent is None else self._find(parent)
        if parent is not None and stat is not None:
            number = change.number
            cversion = stat.cversion + 1 if number == UNKNOWN_CVERSION else number
            if cversion > stat.cversion:
                self._put(parent, stat._replace(cversion=cversion, pzxid=zxid))

    def _write(self, transaction: Transaction, change: Change) -> None:
        stat = self._find(change.path) or ZnodeStat(*_NOWHERE)
        if change.op == "acl":
            stat = stat._replace(aversion=change.number)
        else:
            stat = stat._replace(
                mzxid=transaction.zxid,
                mtime=transaction.time_ms,
                version=change.number,
                data_length=len(change.data or b""),
            )
        self._put(change.path, stat)

    def _delete(self, transaction: Transaction, path: str) -> ZnodeStat | None:
        stat = self._forget(path)
        if stat is None:
            return None
        parent = parent_of(path)
        above = None if parent is None else self._find(parent)
        if parent is not None and above is not None and transaction.zxid > above.pzxid:
            self._put(parent, above._replace(pzxid=transaction.zxid))
        return stat

    def _forget(self, path: str) -> ZnodeStat | None:
        stat = self._find(path)
        if stat is None:
            return None
        del self._stats[path]
        if stat.ephemeral_owner:
            owned = self._ephemerals.get(stat.ephemeral_owner, set())
            owned.discard(path)
            if not owned:
                self._ephemerals.pop(stat.ephemeral_owner, None)
        self._count_child(path, -1)
        return stat

    def _count_child(self, path: str, by: int) -> None:
        parent = parent_of(path)
        stat = None if parent is None else self._find(parent)
        if parent is not None and stat is not None:
            self._put(parent, stat._replace(num_children=max(0, stat.num_children + by)))

    def _find(self, path: str) -> ZnodeStat | None:
        packed = self._stats.get(path)
        return None if packed is None else ZnodeStat(*_PACKED.unpack(packed))

    def _put(self, path: str, stat: ZnodeStat) -> None:
        self._stats[path] = _PACKED.pack(*stat)
        if stat.ephemeral_owner:
            self._ephemerals.setdefault(stat.ephemeral_owner, set()).add(path)
