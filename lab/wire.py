"""Kafka's protocol by hand: frames, strings, one connection.

For requests that confluent-kafka has no call for, and where it sends one partition or one group per
request: at thousands of them in an interval it would cost more than the brokers and the watcher.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Self

from zklake.pipes import read_exactly

_CLIENT = "zklake-lab"
TIMEOUT_S = 60.0


class Connection:
    """One connection to a broker; answers come in the order asked."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout_s)
        self._stream = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, requests: Sequence[bytes]) -> list[bytes]:
        """Send all, then read all; answers begin behind their correlation id."""
        self._socket.sendall(b"".join(requests))
        return [self._read() for _ in requests]

    def _read(self) -> bytes:
        (length,) = struct.unpack(">i", read_exactly(self._stream, 4))
        return read_exactly(self._stream, length)[4:]

    def close(self) -> None:
        """Let go."""
        self._stream.close()
        self._socket.close()


def frame(api_key: int, version: int, body: bytes) -> bytes:
    """A request, with its header and length."""
    message = struct.pack(">hhi", api_key, version, 0) + pack_string(_CLIENT) + body
    return struct.pack(">i", len(message)) + message


def pack_string(text: str) -> bytes:
    """A string, with its length."""
    data = text.encode()
    return struct.pack(">h", len(data)) + data
