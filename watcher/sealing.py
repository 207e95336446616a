"""Data on its way out: redacted first, then put into the envelope's form. Pure.

Nothing of a znode leaves the process but through here.
"""

from __future__ import annotations

import base64
import zlib
from typing import NamedTuple, Protocol

import msgspec

from watcher.long_paths import MARK, NAME_CHARS, is_shortened, shorten
from zklake.events.envelope import Fidelity
from zklake.events.paths import classify, classify_long
from zklake.events.redaction import TOKENS, Redactor

# JSON writes a control character as \u00XX: six bytes for one.
_WORST_ESCAPE = 6
# Kafka's paths are shorter.
_USUAL_CHARS = 300
# All of a record but path and data.
_ENVELOPE_BYTES = 2000


class Sealed(NamedTuple):
    """Data as it may leave the process: text or base64, or nothing, and a keyed hash."""

    text: str | None
    b64: str | None
    zlib_b64: str | None
    data_hash: str
    fidelity: Fidelity


class Sealer(Protocol):
    """Decides what of a znode may be published."""

    def seal(self, path: str, data: bytes | None) -> Sealed:
        """Redact, encode and hash the data of one znode."""
        ...

    def kind(self, path: str) -> str:
        """The kind of znode a path names."""
        ...

    def path(self, path: str) -> str:
        """The path as it may be published; a sealed path stays as it is."""
        ...


class Sealing:
    """The policy of one installation, and how large a record may be."""

    def __init__(self, redactor: Redactor, max_record_bytes: int) -> None:
        self._redactor = redactor
        self._limit = max_record_bytes
        # Most znodes hold no data, and where nothing is, nothing is withheld: the same for every
        # path, but for "null" and "empty".
        self._null, self._empty = self._seal("/", None), self._seal("/", b"")

    def path(self, path: str) -> str:
        """The path as it may be published, and as it fits a record."""
        # It is asked four times an event: no further call for nearly all of them.
        if len(path) <= NAME_CHARS and not path.startswith(TOKENS):
            return path
        return shorten(self._redactor.seal_path(path), self._redactor.hash_name)

    def kind(self, path: str) -> str:
        """The kind of znode a path names."""
        return (classify if len(path) <= _USUAL_CHARS else classify_long)(path).kind

    def seal(self, path: str, data: bytes | None) -> Sealed:
        """What of the data may be published, in the form that fits a record."""
        if MARK in path and is_shortened(path):
            # Neither rule nor reader can say by such a path what the data is.
            return Sealed(None, None, None, self._redactor.hash_data(data), "oversize")
        if data:
            return self._seal(path, data)
        return self._null if data is None else self._empty

    def _seal(self, path: str, data: bytes | None) -> Sealed:
        kept, fidelity, data_hash = self._redactor.seal(path, self.kind(path), data)
        if kept is None:
            return Sealed(None, None, None, data_hash, fidelity)
        room = self._limit - _ENVELOPE_BYTES - _WORST_ESCAPE * len(path)
        if len(kept) > room // _WORST_ESCAPE and not _fits(kept, room):
            return _shrink(kept, room, data_hash, fidelity == "redacted")
        try:
            return Sealed(kept.decode(), None, None, data_hash, fidelity)
        except UnicodeDecodeError:
            return Sealed(None, base64.b64encode(kept).decode(), None, data_hash, fidelity)


def _fits(data: bytes, room: int) -> bool:
    try:
        return len(msgspec.json.encode(data.decode())) <= room
    except UnicodeDecodeError:
        return len(data) * 4 // 3 + 4 <= room


def _shrink(data: bytes, room: int, data_hash: str, redacted: bool) -> Sealed:
    packed = base64.b64encode(zlib.compress(data, 6)).decode()
    if len(packed) > room:
        return Sealed(None, None, None, data_hash, "oversize")
    return Sealed(None, None, packed, data_hash, "redacted" if redacted else "exact")
