"""A snapshot: every znode of the tree, one after the other, and the checksum at the end.

The server goes on while it writes one: what changed meanwhile may or may not be in it.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from watcher.txnlog.finding import TxnLogError
from watcher.txnlog.jute import (
    Malformed,
    read_buffer,
    read_count,
    read_int,
    read_long,
    read_text,
    skip_acl,
)
from watcher.txnlog.log_file import HEADER, VERSION

_MAGIC = b"ZKSN"
_GZIP, _SNAPPY = b"\x1f\x8b", b"\x82SNAPPY\0"
_LARGEST = 64 << 20
_BUFFER = 1 << 20
# czxid, mzxid, ctime, mtime, version, cversion, aversion, ephemeral owner, pzxid
_STAT = struct.Struct(">qqqqiiiqq")


class StoredZnode(NamedTuple):
    """A znode as a snapshot has it; `cversion` counts creates of children alone."""

    path: str
    data: bytes | None
    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    pzxid: int


class BrokenSnapshot(Exception):
    """The snapshot is not whole, or not one that can be read; the message says why."""


def read_snapshot(path: Path) -> Iterator[StoredZnode]:
    """Its znodes, parents first; BrokenSnapshot, possibly at the end only."""
    try:
        with path.open("rb") as file, _open(path, file) as stream:
            yield from _read_znodes(_Checked(stream))
    except Malformed as error:
        raise BrokenSnapshot(f"not whole: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BrokenSnapshot(f"not whole: {error}") from error
    except OSError as error:
        raise TxnLogError(
            f"{path} cannot be read ({error.strerror}): copy the files to where this user may"
        ) from error


class _Checked:
    """Bytes of a stream, counted and summed up."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.sum, self.at = 1, 0

    def take(self, count: int) -> bytes:
        data = self._stream.read(count) if 0 <= count <= _LARGEST else b""
        if len(data) != count:
            raise Malformed(f"it ends at {self.at + len(data)}, within a record")
        self.at += count
        self.sum = zlib.adler32(data, self.sum)
        return data


def _open(path: Path, file: IO[bytes]) -> IO[bytes]:
    start = file.read(8)
    file.seek(0)
    if start == _SNAPPY:
        raise BrokenSnapshot(
            "compressed with snappy, which is not read here: give an uncompressed or gzip one "
            "(zookeeper.snapshot.compression.method), or the logs up to the next of those"
        )
    if start[:2] == _GZIP:
        return cast(IO[bytes], gzip.open(path))
    return path.open("rb", buffering=_BUFFER)


def _is_no_session(owner: int) -> bool:
    """Of containers and znodes with a time to live; clients see no owner either."""
    return owner == -(1 << 63) or owner >> 56 == -1


def _read_znodes(source: _Checked) -> Iterator[StoredZnode]:
    magic, version, _ = HEADER.unpack(source.take(HEADER.size))
    if magic != _MAGIC or version != VERSION:
        raise Malformed("it does not begin like a snapshot of ZooKeeper 3.4 to 3.9")
    for _ in range(read_count(source)):
        # A session, and its timeout.
        read_long(source)
        read_int(source)
    for _ in range(read_int(source)):
        read_long(source)
        skip_acl(source)
    # The root has an empty name; "/" ends the list.
    while (path := read_text(source)) != "/":
        data = read_buffer(source, _LARGEST)
        read_long(source)
        node = StoredZnode(path or "/", data, *_STAT.unpack(source.take(_STAT.size)))
        yield node._replace(ephemeral_owner=0) if _is_no_session(node.ephemeral_owner) else node
    expected, found = source.sum, read_long(source)
    if expected != found:
        raise BrokenSnapshot(f"wrong checksum at {source.at - 8}: the file is damaged")
