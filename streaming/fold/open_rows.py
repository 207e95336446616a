"""The open rows of one interval table, by key: packed, and in shards. Pure.

Packed, a row takes some 300 bytes instead of 700; there may be hundreds of thousands. Those that a
batch has looked at stay unpacked until its commit. A shard is what one file of the lake holds: a
commit writes only the shards whose rows have changed.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

Key = tuple[Any, ...]

# Between a quarter of this and twice it, rows stay in the shards they are in.
SHARD_ROWS = 2048


class OpenRow(msgspec.Struct, array_like=True, gc=False):
    """One open row, but for its key; times are epoch milliseconds."""

    # The payload's columns, in the table's order.
    values: list[Any]
    czxid: int | None
    version: int | None
    fidelity: str
    is_known: bool
    decode_error: str | None
    unseen_versions: int | None
    seen_seq: int
    from_seq: int
    from_zxid: int | None
    from_ms: int | None

    @property
    def is_blank(self) -> bool:
        """No data, and no error either: perhaps the first half of a registration."""
        return not self.is_known and self.decode_error is None


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(OpenRow).decode


class Shard:
    """The rows of one file."""

    __slots__ = ("_unpacked", "is_touched", "rows")

    def __init__(self) -> None:
        self.rows: dict[Key, OpenRow | bytes] = {}
        # Whether the lake does not hold it as it is now.
        self.is_touched = False
        # Keys of rows that are not packed, and of some that have gone.
        self._unpacked: list[Key] = []

    def get(self, key: Key) -> OpenRow | None:
        """The row of a key."""
        row = self.rows.get(key)
        if type(row) is bytes:
            row = self.rows[key] = _unpack(row)
            self._unpacked.append(key)
        return row  # type: ignore[return-value]

    def put(self, key: Key, row: OpenRow, *, touches: bool) -> None:
        """A row begins or changes."""
        if key not in self.rows:
            key = _intern(key)
            self._unpacked.append(key)
        self.rows[key] = row
        self.is_touched |= touches

    def put_packed(self, key: Key, row: OpenRow) -> None:
        """Take up a row that the lake has."""
        self.rows[_intern(key)] = _pack(row)

    def replace(self, key: Key, packed: bytes | None) -> None:
        """A row has changed elsewhere, begun there, or ended."""
        self.is_touched = True
        if packed is None:
            self.rows.pop(key, None)
        else:
            self.rows[key if key in self.rows else _intern(key)] = packed

    def drop(self, key: Key, *, touches: bool) -> None:
        """A row is no longer open."""
        del self.rows[key]
        self.is_touched |= touches

    def pack(self) -> None:
        """Pack what was looked at."""
        rows, keys = self.rows, self._unpacked
        # Where that is much, going through all is faster than looking for each.
        found = (
            rows.items() if 2 * len(keys) > len(rows) else [(key, rows.get(key)) for key in keys]
        )
        for key, row in found:
            if type(row) is OpenRow:
                rows[key] = _pack(row)
        self._unpacked = []

    def items(self) -> Iterator[tuple[Key, OpenRow]]:
        """All rows; they may be dropped meanwhile."""
        for key, row in [*self.rows.items()]:
            yield key, _unpack(row) if type(row) is bytes else row  # type: ignore[misc]


def _intern(key: Key) -> Key:
    # A topic's name stands in the keys of all its partitions: once will do.
    return tuple([sys.intern(part) if type(part) is str else part for part in key])


class OpenRows:
    """All of a table. The number of shards is a power of 2."""

    def __init__(self, shards: int = 1) -> None:
        self.shards = [Shard() for _ in range(shards)]

    def __len__(self) -> int:
        return sum(len(shard.rows) for shard in self.shards)

    @property
    def is_touched(self) -> bool:
        """Whether the lake does not hold all of it as it is now."""
        return any(shard.is_touched for shard in self.shards)

    def pack(self) -> dict[Key, bytes]:
        """All rows, packed."""
        packed: dict[Key, bytes] = {}
        for shard in self.shards:
            shard.pack()
            packed |= shard.rows
        return packed

    def pack_row(self, key: Key) -> bytes | None:
        """The row of a key, packed."""
        row = self.find_shard(key).get(key)
        return None if row is None else _pack(row)

    def find_shard(self, key: Key) -> Shard:
        """The shard of a key."""
        return self.find_hashed(hash_key(key))

    def find_hashed(self, number: int) -> Shard:
        """The shard of a key with that hash."""
        return self.shards[number & (len(self.shards) - 1)]

    def items(self) -> Iterator[tuple[Key, OpenRow]]:
        """All rows; they may be dropped meanwhile."""
        for shard in self.shards:
            yield from shard.items()

    def settle(self) -> None:
        """The lake holds all of it."""
        for shard in self.shards:
            shard.is_touched = False
            shard.pack()

    def fit(self) -> None:
        """Make shards more or fewer where they have become too large or too small."""
        size, count = len(self), len(self.shards)
        if size <= SHARD_ROWS * 2 * count and (size >= SHARD_ROWS / 4 * count or count == 1):
            return
        wanted = 1
        while wanted * SHARD_ROWS < size:
            wanted *= 2
        if wanted != count:
            self._divide(wanted)

    def _divide(self, count: int) -> None:
        former, self.shards = self.shards, [Shard() for _ in range(count)]
        for shard in former:
            shard.pack()
            for key, packed in shard.rows.items():
                self.find_shard(key).rows[key] = packed
        for shard in self.shards:
            shard.is_touched = True


def hash_key(key: Key) -> int:
    """A checksum of a key, which is the same in every process."""
    number = 0
    for part in key:
        number = number * 31 + (part if isinstance(part, int) else _hash_text(part))
    # The low bits decide: those of small numbers in a row must not.
    return (number * 0x9E3779B1 & 0xFFFFFFFF) >> 8


@lru_cache(1 << 16)
def _hash_text(text: str | None) -> int:
    return 0 if text is None else zlib.crc32(text.encode())
