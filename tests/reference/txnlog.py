"""A reader of ZooKeeper's transaction log files: the oracle that says what really happened.

It shares no code with the product and must never import it: both would be wrong together.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CREATE, DELETE, SET, SET_ACL, CHECK, MULTI, CREATE2, RECONFIG = 1, 2, 5, 7, 13, 14, 15, 16
CREATE_CONTAINER, DELETE_CONTAINER, CREATE_TTL = 19, 20, 21
CREATE_SESSION, CLOSE_SESSION, ERROR = -10, -11, -1

_FRAME = struct.Struct(">qi")  # Adler-32 as a long, length
_HEADER = struct.Struct(">qiqqi")  # session, cxid, zxid, time in ms, type
_INT = struct.Struct(">i")
_DIGEST_BYTES = 12  # int version, long tree digest: since 3.6 behind every record


class TxnLogError(Exception):
    """A log file that is not what ZooKeeper writes, or is damaged before its tail."""


class Op(NamedTuple):
    """One part of a transaction, as logged; `version` is that of the data, or of the ACL."""

    kind: str  # create | set | delete | set_acl | check | error
    path: str = ""
    data: bytes | None = None
    version: int = 0
    # The creator's session owns it. Containers and TTL nodes show no owner to a client.
    ephemeral: bool = False
    parent_cversion: int = -1
    error: int = 0


class Txn(NamedTuple):
    """One record. An aborted multi keeps its parts for the reader, but none of them applied."""

    zxid: int
    time_ms: int
    session: int
    cxid: int
    type: int
    ops: tuple[Op, ...] = ()
    aborted: bool = False
    # closeSession: the ephemerals the leader listed; empty in old logs (owners tell then).
    closed_paths: tuple[str, ...] = ()


def read_dir(data_dir: Path) -> Iterator[Txn]:
    """Every transaction of a dataDir (or its version-2 folder), in zxid order."""
    folder = data_dir / "version-2" if (data_dir / "version-2").is_dir() else data_dir
    files = sorted(folder.glob("log.*"), key=lambda file: int(file.name[4:], 16))
    last = -1
    for file in files:
        for txn in read_file(file):
            if txn.zxid <= last:
                raise TxnLogError(f"{file}: zxid {txn.zxid:#x} after {last:#x}")
            last = txn.zxid
            yield txn


def read_file(file: Path) -> Iterator[Txn]:
    """Every transaction of one log.<hex zxid> file, up to its padding or torn tail."""
    raw = file.read_bytes()
    if not raw:
        return
    if raw[:4] != b"ZKLG" or _INT.unpack_from(raw, 4)[0] != 2:
        raise TxnLogError(f"{file}: not a ZooKeeper transaction log of version 2")
    at = 16
    while at + _FRAME.size <= len(raw):
        checksum, length = _FRAME.unpack_from(raw, at)
        start, end = at + _FRAME.size, at + _FRAME.size + length
        # Zero padding, or a record cut off by a kill: the server too takes both as the end.
        if length <= 0 or end >= len(raw) or raw[end] != 0x42:
            return
        body = raw[start:end]
        if zlib.adler32(body) != checksum:
            raise TxnLogError(f"{file}: Adler-32 mismatch at byte {at}")
        yield decode_txn(body)
        at = end + 1


def decode_txn(body: bytes) -> Txn:
    """One record's body: header, jute record, perhaps a digest."""
    session, cxid, zxid, time_ms, kind = _HEADER.unpack_from(body)
    head = (zxid, time_ms, session, cxid, kind)
    if kind == CREATE_SESSION:
        return Txn(*head)
    if kind == CLOSE_SESSION:
        return Txn(*head, closed_paths=_read_closed_paths(body, _HEADER.size))
    if kind == MULTI:
        parts = _read_multi(body, _HEADER.size)
        return Txn(*head, ops=parts, aborted=any(part.kind == "error" for part in parts))
    return Txn(*head, ops=(_read_op(kind, body, _HEADER.size),))


def _read_op(kind: int, body: bytes, at: int) -> Op:
    if kind == ERROR:
        return Op("error", error=_INT.unpack_from(body, at)[0])
    path, at = _read_path(body, at)
    if kind in (CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL):
        return _read_create(kind, path, body, at)
    if kind in (DELETE, DELETE_CONTAINER):
        return Op("delete", path)
    if kind in (SET, RECONFIG):
        data, at = _read_buffer(body, at)
        return Op("set", path, data, _INT.unpack_from(body, at)[0])
    if kind == SET_ACL:
        at = _skip_acl(body, at)
        return Op("set_acl", path, version=_INT.unpack_from(body, at)[0])
    if kind == CHECK:
        return Op("check", path, version=_INT.unpack_from(body, at)[0])
    raise TxnLogError(f"transaction type {kind} is not known")


def _read_create(kind: int, path: str, body: bytes, at: int) -> Op:
    data, at = _read_buffer(body, at)
    at = _skip_acl(body, at)
    if kind in (CREATE_CONTAINER, CREATE_TTL):  # the latter ends in the ttl, a long
        return Op("create", path, data, 0, False, _INT.unpack_from(body, at)[0])
    ephemeral = body[at] != 0
    # The V0 form (before 3.4) ends here.
    cversion = _INT.unpack_from(body, at + 1)[0] if at + 5 <= len(body) else -1
    return Op("create", path, data, 0, ephemeral, cversion)


def _read_multi(body: bytes, at: int) -> tuple[Op, ...]:
    count, at = _INT.unpack_from(body, at)[0], at + 4
    parts = []
    for _ in range(count):
        kind = _INT.unpack_from(body, at)[0]
        part, at = _read_buffer(body, at + 4)
        parts.append(_read_op(kind, part or b"", 0))
    return tuple(parts)


def _read_closed_paths(body: bytes, at: int) -> tuple[str, ...]:
    """The listed ephemerals. 3.4 logs nothing here; a digest alone must not pass for a list."""
    try:
        count, at = _INT.unpack_from(body, at)[0], at + 4
        paths = []
        for _ in range(count):
            path, at = _read_path(body, at)
            paths.append(path)
    except (struct.error, UnicodeDecodeError, TxnLogError):
        return ()
    if at not in (len(body), len(body) - _DIGEST_BYTES):
        return ()
    return tuple(paths)


def _read_path(body: bytes, at: int) -> tuple[str, int]:
    raw, end = _read_buffer(body, at)
    return (raw or b"").decode(), end


def _read_buffer(body: bytes, at: int) -> tuple[bytes | None, int]:
    length = _INT.unpack_from(body, at)[0]
    at += 4
    if length < 0:
        return None, at
    if at + length > len(body):
        raise TxnLogError(f"a buffer of {length} bytes runs past its record")
    return body[at : at + length], at + length


def _skip_acl(body: bytes, at: int) -> int:
    count, at = _INT.unpack_from(body, at)[0], at + 4
    for _ in range(count):
        at += 4  # perms
        for _field in ("scheme", "id"):
            at += 4 + max(0, _INT.unpack_from(body, at)[0])
    return at
