"""The data of an event, read by the contract's own decoders. Pure.

The words for what is wrong with it stand in delta_tables/intervals.py.
"""

from __future__ import annotations

import base64
import binascii
import zlib

from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME, UNKNOWN
from zklake.events.payloads.reading import Payload, Unreadable

# No znode is larger by ZooKeeper's default (jute.maxbuffer, 1 MiB); Kafka's own client takes 4.
_LARGEST = 4 << 20
_WORDS = ("no_data", "not_utf8", "unknown_version")


def read_payload(event: Event) -> tuple[Payload | None, str | None]:
    """(payload, None), or (None, what is wrong with it); (None, None) where there is no data."""
    if event.data is None and event.data_b64 is not None:
        return None, "not_utf8"  # only such bytes travel in base64
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
    if event.data_zlib_b64 is None:
        return None
    inflater = zlib.decompressobj()
    data = inflater.decompress(base64.b64decode(event.data_zlib_b64, validate=True), _LARGEST)
    if not inflater.eof:
        raise ValueError("larger than any znode, or cut off")
    return data


def read_value(event: Event, empty: Payload | None = None) -> tuple[Payload | None, str | None]:
    """(what a state says, None), or (None, why that is not known; None: there is no data).

    `empty`: what it says by having no data, where it is known that there is none.
    """
    payload, error = read_payload(event)
    if payload is not None or error is not None:
        return payload, error
    is_absent = event.data is None and event.data_b64 is None and event.data_zlib_b64 is None
    return (None if is_absent and event.fidelity != "exact" else empty), None
