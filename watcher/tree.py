"""The model: what was last published of every znode, packed small enough for a million of them.

It changes only when an event is released, so it is always exactly what the log says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from watcher.messages import ZnodeStat
from zklake.events.envelope import Stat, TreeRow

# czxid, mzxid, ephemeral_owner, version, cversion, aversion, num_children, flags, data hash
_PACKED = Struct("<qqqiiiiB8s")
_UNREADABLE, _UNREAD = 1, 2
_FLAGS_AT = Struct("<qqqiiii").size
# A packed row and a path, without the path's characters.
_ROW_BYTES = sys.getsizeof(bytes(_PACKED.size)) + sys.getsizeof("")
# A version nobody could count: the znode was changed while we were blind.
UNKNOWN_VERSION = -1


class ZnodeRow(NamedTuple):
    """What is known of one znode; czxid 0 and version -1 stand for "not known"."""

    czxid: int
    mzxid: int
    version: int
    aversion: int
    ephemeral_owner: int
    # True when no value of this version was ever published.
    unread: bool = False
    # True when ZooKeeper's ACL keeps it from us.
    unreadable: bool = False

    def stat(self) -> Stat:
        """The part of ZooKeeper's stat that this row vouches for."""
        return Stat(
            czxid=self.czxid or None,
            mzxid=self.mzxid or None,
            version=None if self.version == UNKNOWN_VERSION else self.version,
            aversion=self.aversion,
            ephemeral_owner=self.ephemeral_owner,
        )


def row_of(stat: ZnodeStat) -> ZnodeRow:
    """The row of a znode just read."""
    return ZnodeRow(stat.czxid, stat.mzxid, stat.version, stat.aversion, stat.ephemeral_owner)


class Counted(NamedTuple):
    """A row with its children counted, as the tree topic keeps it."""

    row: ZnodeRow
    cversion: int
    num_children: int
    data_hash: bytes


class Tree:
    """path -> packed row."""

    def __init__(self) -> None:
        self._rows: dict[str, bytes] = {}
        self._path_chars = 0

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return sys.getsizeof(self._rows) + len(self._rows) * _ROW_BYTES + self._path_chars

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, path: str) -> bool:
        return path in self._rows

    def list_unreadable(self) -> list[str]:
        """Znodes that ZooKeeper's ACL keeps from us."""
        return [path for path, packed in self._rows.items() if packed[_FLAGS_AT] & _UNREADABLE]

    def row(self, path: str) -> ZnodeRow | None:
        """What is known of the znode itself."""
        packed = self._rows.get(path)
        if packed is None:
            return None
        czxid, mzxid, owner, version, _, aversion, _, flags, _ = _PACKED.unpack(packed)
        return ZnodeRow(
            czxid, mzxid, version, aversion, owner, bool(flags & _UNREAD), bool(flags & _UNREADABLE)
        )

    def counted(self, path: str) -> Counted | None:
        """The row with its child counts and data hash."""
        packed = self._rows.get(path)
        if packed is None:
            return None
        czxid, mzxid, owner, version, cversion, aversion, children, flags, digest = _PACKED.unpack(
            packed
        )
        row = ZnodeRow(
            czxid, mzxid, version, aversion, owner, bool(flags & _UNREAD), bool(flags & _UNREADABLE)
        )
        return Counted(row, cversion, children, digest)

    def put(
        self, path: str, row: ZnodeRow, cversion: int, num_children: int, data_hash: bytes = b""
    ) -> None:
        """Store what was just published."""
        flags = (_UNREAD if row.unread else 0) | (_UNREADABLE if row.unreadable else 0)
        if path not in self._rows:
            self._path_chars += len(path)
        self._rows[path] = _PACKED.pack(
            row.czxid,
            row.mzxid,
            row.ephemeral_owner,
            row.version,
            cversion,
            row.aversion,
            num_children,
            flags,
            data_hash,
        )

    def put_seen(self, path: str, stat: ZnodeStat, data_hash: bytes) -> None:
        """Store a znode met for the first time, whose children are counted from here on."""
        czxid, mzxid, _, _, version, cversion, aversion, owner, _, children, _ = stat
        self._path_chars += len(path)
        self._rows[path] = _PACKED.pack(
            czxid, mzxid, owner, version, cversion, aversion, children, 0, data_hash
        )

    def drop(self, path: str) -> None:
        """Forget a znode that is gone."""
        if self._rows.pop(path, None) is not None:
            self._path_chars -= len(path)

    def set_counts(self, path: str, cversion: int, num_children: int) -> None:
        """Correct the child counts of a known znode."""
        known = self.counted(path)
        if known is not None:
            self.put(path, known.row, cversion, num_children, known.data_hash)

    def wire_row(self, path: str) -> TreeRow | None:
        """The tree topic's value for path; None is a tombstone."""
        packed = self._rows.get(path)
        if packed is None:
            return None
        czxid, mzxid, owner, version, cversion, aversion, children, flags, digest = _PACKED.unpack(
            packed
        )
        data_hash = "" if flags else digest.hex()
        unreadable = bool(flags & _UNREADABLE)
        # By place, in the order of its fields: names would cost five times as much.
        return TreeRow(
            czxid, mzxid, version, cversion, aversion, children, owner, data_hash, unreadable
        )

    def load(self, path: str, wire: TreeRow) -> None:
        """Take a row back from the tree topic."""
        unread = not wire.data_hash and not wire.unreadable
        row = ZnodeRow(
            wire.czxid,
            wire.mzxid,
            wire.version,
            wire.aversion,
            wire.ephemeral_owner,
            unread,
            wire.unreadable,
        )
        self.put(path, row, wire.cversion, wire.num_children, bytes.fromhex(wire.data_hash))


def parent_of(path: str) -> str | None:
    """The parent's path; the root has none."""
    if path == "/":
        return None
    return path.rpartition("/")[0] or "/"
