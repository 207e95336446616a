"""Log files and snapshots as ZooKeeper writes them, for what no server does on demand."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

CREATE, DELETE, SET, SET_ACL, MULTI, CREATE_CONTAINER, CREATE_TTL = 1, 2, 5, 7, 14, 19, 21
CREATE_SESSION, CLOSE_SESSION, ERROR = -10, -11, -1
SESSION = 0x1000_0000_0000_0001
START_MS = 1_794_793_246_000
HEADER = b"ZKLG" + struct.pack(">iq", 2, 0)
_ACL = struct.pack(">ii", 1, 31)


def text(value: str | bytes | None) -> bytes:
    """A string or a buffer; None is null."""
    if value is None:
        return struct.pack(">i", -1)
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack(">i", len(raw)) + raw


ACL = _ACL + text("world") + text("anyone")


def create(
    path: str, data: bytes | None = b"", cversion: int = 1, ephemeral: bool = False
) -> bytes:
    return text(path) + text(data) + ACL + struct.pack(">?i", ephemeral, cversion)


def set_data(path: str, data: bytes | None, version: int) -> bytes:
    return text(path) + text(data) + struct.pack(">i", version)


def multi(*parts: tuple[int, bytes]) -> bytes:
    told = b"".join(struct.pack(">i", kind) + text(body) for kind, body in parts)
    return struct.pack(">i", len(parts)) + told


def closed(*paths: str) -> bytes:
    return struct.pack(">i", len(paths)) + b"".join(map(text, paths))


def record(
    zxid: int, kind: int, body: bytes = b"", *, session: int = SESSION, at_ms: int | None = None
) -> bytes:
    """A record of a log file; each transaction comes a second after the one before."""
    time_ms = START_MS + 1000 * (zxid & 0xFFFF_FFFF) if at_ms is None else at_ms
    whole = struct.pack(">qiqqi", session, 1, zxid, time_ms, kind) + body
    return struct.pack(">qi", zlib.adler32(whole), len(whole)) + whole + b"B"


def write_log(directory: Path, zxid: int, records: Sequence[bytes], padding: int = 512) -> Path:
    """A log file, with zeros behind what is written."""
    path = directory / f"log.{zxid:x}"
    path.write_bytes(HEADER + b"".join(records) + bytes(padding))
    return path


def sets(path: str, zxids: Sequence[int], first_version: int = 1) -> list[bytes]:
    """Writes of one znode, a transaction each."""
    return [
        record(zxid, SET, set_data(path, b"%d" % zxid, first_version + number))
        for number, zxid in enumerate(zxids)
    ]


def znode(
    path: str,
    data: bytes | None = b"",
    zxids: tuple[int, int] = (1, 1),
    version: int = 0,
    owner: int = 0,
) -> bytes:
    """A znode in a snapshot; the root's name is empty."""
    czxid, mzxid = zxids
    times = [START_MS + 1000 * zxid for zxid in zxids]
    stat = struct.pack(">qqqqiiiqq", czxid, mzxid, *times, version, 0, 0, owner, czxid)
    return text(path) + text(data) + struct.pack(">q", 0) + stat


def make_snapshot(*znodes: bytes) -> bytes:
    """A snapshot with one session and one ACL."""
    body = b"ZKSN" + struct.pack(">iq", 2, -1)
    body += struct.pack(">iqi", 1, SESSION, 6000)
    body += struct.pack(">iq", 1, 0) + ACL
    body += b"".join((znode(""), *znodes)) + text("/")
    return body + struct.pack(">q", zlib.adler32(body)) + text("/")


def write_snapshot(directory: Path, zxid: int, *znodes: bytes) -> Path:
    path = directory / f"snapshot.{zxid:x}"
    path.write_bytes(make_snapshot(*znodes))
    return path
