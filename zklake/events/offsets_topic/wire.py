"""Kafka's binary primitives, read with bounds: numbers, strings, bytes, arrays, tagged fields.

Knows no message. Raises Malformed for any bytes that do not hold what is asked for, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import TypeVar

T = TypeVar("T")

_INT16, _INT32, _INT64 = Struct(">h"), Struct(">i"), Struct(">q")
# Five bytes of seven bits hold 32.
_VARINT_BYTES = 5


class Malformed(Exception):
    """The bytes end too early, or say what Kafka never writes; carries no part of them."""


class Reader:
    """Reads on from one place in a record; `flexible` ones have compact lengths and tags."""

    __slots__ = ("_at", "_data", "flexible")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self._at = at
        self.flexible = False

    def int16(self) -> int:
        """Two bytes."""
        return self._number(_INT16)

    def int32(self) -> int:
        """Four bytes."""
        return self._number(_INT32)

    def int64(self) -> int:
        """Eight bytes."""
        return self._number(_INT64)

    def varint(self) -> int:
        """An unsigned number, seven bits a byte."""
        value = 0
        for index in range(_VARINT_BYTES):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return value
        raise Malformed("a varint of more than 32 bits")

    def string(self) -> str:
        """A string that cannot be null."""
        text = self.nullable_string()
        if text is None:
            raise Malformed("null where a string must be")
        return text

    def nullable_string(self) -> str | None:
        """A string, or null."""
        length = self.varint() - 1 if self.flexible else self.int16()
        raw = self._sized(length)
        try:
            return None if raw is None else raw.decode()
        except UnicodeDecodeError:
            # Without its cause: the error's text would repeat the bytes.
            raise Malformed("a string that is no UTF-8") from None

    def nullable_bytes(self) -> bytes | None:
        """Bytes, or null."""
        return self._sized(self.varint() - 1 if self.flexible else self.int32())

    def array(self, read: Callable[[], T]) -> tuple[T, ...]:
        """So many of them; null counts as none."""
        count = self.varint() - 1 if self.flexible else self.int32()
        # Each element takes a byte at least: a larger count is a lie, and would cost memory.
        if count > len(self._data) - self._at or count < -1:
            raise Malformed("more elements than bytes")
        return tuple(read() for _ in range(count))

    def tags(self) -> None:
        """Pass over tagged fields: newer releases add only those."""
        if self.flexible:
            for _ in range(self.varint()):
                self.varint()
                self._take(self.varint())

    def _number(self, form: Struct) -> int:
        try:
            number: int = form.unpack_from(self._data, self._at)[0]
        except struct_error:
            raise Malformed("the bytes end too early") from None
        self._at += form.size
        return number

    def _sized(self, length: int) -> bytes | None:
        if length < -1:
            raise Malformed("a negative length")
        return None if length == -1 else self._take(length)

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise Malformed("the bytes end too early")
        taken = self._data[self._at : end]
        self._at = end
        return taken
