"""The open rows of one interval table, by key: packed, and in shards. Pure.

Packed, a row takes some 300 bytes instead of 700; there may be hundreds of thousands. A shard is
what one file of the lake holds: a commit writes only the shards whose rows have changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from streaming.fold.life import State

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
    def state(self) -> State:
        """What tells it from another state of the znode."""
        return State(self.czxid, self.version, self.fidelity)

    @property
    def is_blank(self) -> bool:
        """No data, and no error either: perhaps the first half of a registration."""
        return not self.is_known and self.decode_error is None


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(OpenRow).decode


def find_shard(key: Key, count: int) -> int:
    """The shard of a key, the same in every process; `count`: how many there are, a power of 2."""
    return zlib.crc32(repr(key).encode()) & (count - 1)


class OpenRows:
    """All of a table; `touched` are the shards that the lake does not hold as they are now."""

    def __init__(self, shards: int = 1) -> None:
        self._shards: list[dict[Key, bytes]] = [{} for _ in range(shards)]
        self.touched: set[int] = set()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return len(self._shards)

    def get(self, key: Key) -> OpenRow | None:
        """The row of a key."""
        packed = self._shards[find_shard(key, self.shards)].get(key)
        return None if packed is None else _unpack(packed)

    def put(self, key: Key, row: OpenRow, *, touches: bool = True) -> None:
        """A row begins or changes."""
        number = find_shard(key, self.shards)
        shard = self._shards[number]
        self._size += key not in shard
        shard[key] = _pack(row)
        if touches:
            self.touched.add(number)

    def drop(self, key: Key, *, touches: bool = True) -> None:
        """A row is no longer open."""
        number = find_shard(key, self.shards)
        del self._shards[number][key]
        self._size -= 1
        if touches:
            self.touched.add(number)

    def items(self) -> Iterator[tuple[Key, OpenRow]]:
        """All rows; they may be dropped meanwhile."""
        for number in range(self.shards):
            yield from self.items_of(number)

    def items_of(self, number: int) -> Iterator[tuple[Key, OpenRow]]:
        """The rows of one shard."""
        for key, packed in [*self._shards[number].items()]:
            yield key, _unpack(packed)

    def fit(self) -> None:
        """Make shards more or fewer where they have become too large or too small."""
        rows = self._size / self.shards
        if SHARD_ROWS / 4 <= rows <= SHARD_ROWS * 2 or (self.shards == 1 and rows <= SHARD_ROWS):
            return
        wanted = 1
        while wanted * SHARD_ROWS < self._size:
            wanted *= 2
        if wanted != self.shards:
            self._divide(wanted)

    def _divide(self, count: int) -> None:
        shards: list[dict[Key, bytes]] = [{} for _ in range(count)]
        for shard in self._shards:
            for key, packed in shard.items():
                shards[find_shard(key, count)][key] = packed
        self._shards = shards
        self.touched = set(range(count))
