"""Reading from a pipe or a socket by length. Knows no message."""

from __future__ import annotations

from typing import Protocol


class Readable(Protocol):
    """Where bytes come from."""

    def read(self, length: int, /) -> bytes:
        """So many bytes, or fewer at the end."""


def read_exactly(stream: Readable, length: int) -> bytes:
    """So many bytes; EOFError where the stream ends before."""
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
