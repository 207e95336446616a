"""The data of an event, read by the contract's own decoders: for what SQL does not read itself.

Pure. The verdicts are those of delta_tables.payload.
"""

from __future__ import annotations

import base64
import binascii
import zlib

import msgspec

from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME, UNKNOWN
from zklake.events.payloads.reading import Payload, Unreadable

# No znode is larger by ZooKeeper's default (jute.maxbuffer, 1 MiB); Kafka's own client takes 4.
_LARGEST = 4 << 20
_WORDS = ("no_data", "not_utf8", "unknown_version")


def read_payload(event: Event) -> tuple[Payload | None, str | None]:
    """(payload, None), or (None, what is wrong with it); (None, None) where there is no data."""
    try:
        data = _read_bytes(event)
    except (binascii.Error, ValueError, zlib.error):
        return None, "malformed"
    if data is None:
        return None, None
    decoded = KIND_BY_NAME.get(event.kind or "", UNKNOWN).decode(data)
    if not data and not isinstance(decoded, Unreadable):
        return None, None
    if isinstance(decoded, Unreadable):
        return None, decoded.reason if decoded.reason in _WORDS else "malformed"
    return decoded, None


def _read_bytes(event: Event) -> bytes | None:
    if event.data is not None:
        return event.data.encode()
    if event.data_b64 is not None:
        return base64.b64decode(event.data_b64, validate=True)
    if event.data_zlib_b64 is None:
        return None
    inflater = zlib.decompressobj()
    data = inflater.decompress(base64.b64decode(event.data_zlib_b64, validate=True), _LARGEST)
    if not inflater.eof:
        raise ValueError("larger than any znode, or cut off")
    return data


# Fields that a form of that version does not have: absent is not the same as empty.
_SINCE = {
    "endpoints": 2,
    "listener_security_protocol_map": 4,
    "adding_replicas": 2,
    "removing_replicas": 2,
}


def rewrite(event: Event) -> tuple[str | None, str | None]:
    """(the payload as plain JSON, None), or (None, what is wrong with it)."""
    payload, error = read_payload(event)
    if payload is None:
        # Empty, and allowed to be: it says nothing, which is no error.
        return (None if error else ""), error
    fields = msgspec.to_builtins(payload)
    kept = {
        name: value
        for name, value in fields.items()
        if value or payload.version >= _SINCE.get(name, 0)
    }
    return msgspec.json.encode(kept).decode(), None
