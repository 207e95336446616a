"""One transaction as it stands in a log file, 3.4 to 3.9: who, when, and what it changes. Pure."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

from watcher.txnlog.jute import (
    Malformed,
    Span,
    read_bool,
    read_buffer,
    read_count,
    read_int,
    read_long,
    read_text,
    skip_acl,
)

_HEAD = struct.Struct(">qiqqi")
# ZooKeeper's operation codes.
_CREATE, _DELETE, _SET_DATA, _SET_ACL, _CHECK, _MULTI = 1, 2, 5, 7, 13, 14
_CREATE2, _RECONFIG, _CREATE_CONTAINER, _DELETE_CONTAINER, _CREATE_TTL = 15, 16, 19, 20, 21
_CREATE_SESSION, _CLOSE_SESSION, _ERROR = -10, -11, -1
# A TxnDigest of 3.6+: its version and the tree's digest.
_DIGEST_BYTES = 12
UNKNOWN_CVERSION = -1


class Change(NamedTuple):
    """What a transaction does to one znode; `close`: to the ephemerals of its session."""

    op: Literal["create", "set", "delete", "acl", "close"]
    path: str = ""
    data: bytes | None = None
    # Of a create the parent's cversion, of set and acl the version that it makes.
    number: int = UNKNOWN_CVERSION
    ephemeral_owner: int = 0
    # Of close: what it deletes, as far as the log says (3.6+).
    paths: tuple[str, ...] = ()


class Transaction(NamedTuple):
    """One transaction; a failed one, and one of sessions alone, changes nothing."""

    zxid: int
    session: int
    time_ms: int
    changes: tuple[Change, ...]


def read_transaction(record: bytes) -> Transaction:
    """Decode a record of a log file; Malformed if its type or its body is not known."""
    if len(record) < _HEAD.size:
        raise Malformed(f"a transaction of {len(record)} bytes")
    session, _, zxid, time_ms, kind = _HEAD.unpack_from(record)
    body = Span(record, _HEAD.size)
    return Transaction(zxid, session, time_ms, _read_changes(kind, body, session))


def _read_changes(kind: int, body: Span, session: int) -> tuple[Change, ...]:
    if kind == _MULTI:
        return _read_multi(body, session)
    if kind == _CLOSE_SESSION:
        return (Change("close", ephemeral_owner=session, paths=_read_paths(body)),)
    reader = _READERS.get(kind)
    if reader is None:
        raise Malformed(f"a transaction of type {kind}, which ZooKeeper up to 3.9 does not have")
    change = reader(body, session)
    return () if change is None else (change,)


def _read_multi(body: Span, session: int) -> tuple[Change, ...]:
    """All or nothing: where one part is an error, none was applied."""
    parts = [(read_int(body), read_buffer(body) or b"") for _ in range(read_count(body))]
    if any(kind == _ERROR for kind, _ in parts):
        return ()
    found: list[Change] = []
    for kind, data in parts:
        if kind == _MULTI:
            raise Malformed("a multi inside a multi")
        found += _read_changes(kind, Span(data), session)
    return tuple(found)


def _read_paths(body: Span) -> tuple[str, ...]:
    """The ephemerals of a closed session: nothing before 3.6, and where that is turned off."""
    start = body.at
    try:
        paths = tuple(read_text(body) for _ in range(read_count(body)))
    except Malformed:
        paths = ()
    # A digest alone may look like a list.
    is_list = body.left in (0, _DIGEST_BYTES) and all(path.startswith("/") for path in paths)
    if not is_list:
        body.at, paths = start, ()
    return paths


def _read_path(body: Span) -> str:
    path = read_text(body)
    if not path.startswith("/"):
        raise Malformed("a transaction without a path")
    return path


def _read_create(body: Span, session: int) -> Change:
    path, data = _read_path(body), read_buffer(body)
    skip_acl(body)
    owner = session if read_bool(body) else 0
    # The oldest form ends here.
    cversion = read_int(body) if body.left >= 4 else UNKNOWN_CVERSION
    return Change("create", path, data, cversion, owner)


def _read_container(body: Span, session: int) -> Change:
    path, data = _read_path(body), read_buffer(body)
    skip_acl(body)
    return Change("create", path, data, read_int(body))


def _read_ttl(body: Span, session: int) -> Change:
    path, data = _read_path(body), read_buffer(body)
    skip_acl(body)
    cversion = read_int(body)
    # How long it may live without children and writes.
    read_long(body)
    return Change("create", path, data, cversion)


def _read_delete(body: Span, session: int) -> Change:
    return Change("delete", _read_path(body))


def _read_set(body: Span, session: int) -> Change:
    path, data = _read_path(body), read_buffer(body)
    return Change("set", path, data, read_int(body))


def _read_acl(body: Span, session: int) -> Change:
    path = _read_path(body)
    skip_acl(body)
    return Change("acl", path, None, read_int(body))


def _read_nothing(body: Span, session: int) -> None:
    return None


_READERS: dict[int, Callable[[Span, int], Change | None]] = {
    _CREATE: _read_create,
    _CREATE2: _read_create,
    _CREATE_CONTAINER: _read_container,
    _CREATE_TTL: _read_ttl,
    _DELETE: _read_delete,
    _DELETE_CONTAINER: _read_delete,
    _SET_DATA: _read_set,
    _RECONFIG: _read_set,
    _SET_ACL: _read_acl,
    _CHECK: _read_nothing,
    _CREATE_SESSION: _read_nothing,
    _ERROR: _read_nothing,
}
