"""What the data of an event says: payload columns, or one word why not."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import Any, NamedTuple

import msgspec

from tests.reference.fold.payloads import COLUMNS, columns_of
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME
from zklake.events.payloads.reading import Unreadable

Row = dict[str, Any]

# 0.7's directory, a block not yet handed out, a znode of which only the version counts.
_EMPTY = ("topic", "producer_id_block", "broker_seqid")
_HOST = re.compile(r"(.+)-([0-9]{13})-([0-9a-f]{1,8})")


class Value(NamedTuple):
    """Payload columns are all None when the value is not known."""

    columns: Row
    is_known: bool
    decode_error: str | None


def value_of(event: Event) -> Value:
    """Decode the event's data by the contract's own decoder."""
    kind = event.kind or ""
    nothing: Row = dict.fromkeys(COLUMNS[kind])
    if event.data is None and event.data_b64 is None and event.data_zlib_b64 is None:
        return Value(nothing, False, None)
    data = bytes_of(event)
    if isinstance(data, str):
        return Value(nothing, False, data)
    if kind in _EMPTY and not data:
        # The decoder takes it, and it says nothing.
        return Value(nothing, False, None)
    payload = KIND_BY_NAME[kind].decode(data)
    if isinstance(payload, Unreadable):
        return Value(nothing, False, word_for(payload))
    return Value(columns_of(kind, payload, _members_of(data)), True, None)


def bytes_of(event: Event) -> bytes | str:
    """The data, or the word that says why there is none."""
    if event.data is not None:
        return event.data.encode(errors="surrogatepass")
    if event.data_zlib_b64 is None:
        return "not_utf8"
    try:
        return zlib.decompress(base64.b64decode(event.data_zlib_b64, validate=True))
    except (binascii.Error, ValueError, zlib.error):
        return "malformed"


def word_for(why: Unreadable) -> str:
    if why.reason in ("no_data", "not_utf8", "unknown_version"):
        return why.reason
    return "malformed"


def _members_of(data: bytes) -> set[str]:
    """The keys of a JSON object: the decoders fill in what is absent."""
    try:
        return set(msgspec.json.decode(data, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError):
        return set()


def host_of(group_id: str, member_id: str) -> str | None:
    """The host in a consumer's id, [group]_[host]-[start millis]-[hex]; None for ids of choice."""
    found = _HOST.fullmatch(member_id.removeprefix(f"{group_id}_"))
    return found[1] if found else None
