"""Jute, ZooKeeper's record format: big-endian numbers, strings and buffers behind their length.

Reads from bytes, or from a file piece by piece; what does not add up raises Malformed.
"""

from __future__ import annotations

import struct
from typing import Protocol

_int = struct.Struct(">i").unpack_from
_long = struct.Struct(">q").unpack_from


class Malformed(Exception):
    """The bytes are no such record."""


class Source(Protocol):
    """Where the next bytes come from."""

    def take(self, count: int) -> bytes:
        """The next bytes, all of them; Malformed if there are fewer."""
        ...


class Span:
    """Bytes in memory."""

    __slots__ = ("_data", "at")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self.at = data, at

    @property
    def left(self) -> int:
        """How many bytes are not read yet."""
        return len(self._data) - self.at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        start, self.at = self.at, self.at + count
        if count < 0 or self.at > len(self._data):
            raise Malformed(f"{count} bytes are wanted at {start} of {len(self._data)}")
        return self._data[start : self.at]


def read_int(source: Source) -> int:
    """A signed number of 4 bytes."""
    number: int = _int(source.take(4))[0]
    return number


def read_long(source: Source) -> int:
    """A signed number of 8 bytes."""
    number: int = _long(source.take(8))[0]
    return number


def read_bool(source: Source) -> bool:
    """One byte."""
    return source.take(1) != b"\0"


def read_buffer(source: Source, limit: int = 1 << 30) -> bytes | None:
    """Bytes behind their length; None where the length is -1."""
    length = read_int(source)
    if length == -1:
        return None
    if not 0 <= length <= limit:
        raise Malformed(f"a value of {length} bytes")
    return source.take(length)


def read_text(source: Source, limit: int = 1 << 22) -> str:
    """A string; as the watcher reads names, which are UTF-8 by ZooKeeper's own account."""
    return str(read_buffer(source, limit) or b"", "utf-8", "replace")


def read_count(source: Source) -> int:
    """The number of items of a vector; a null one has none."""
    count = read_int(source)
    if count < -1:
        raise Malformed(f"a list of {count} items")
    return max(count, 0)


def skip_acl(source: Source) -> None:
    """A list of permissions: who may do what is not kept."""
    for _ in range(read_count(source)):
        read_int(source)
        read_text(source)
        read_text(source)
