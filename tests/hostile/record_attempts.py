"""Records that no watcher wrote, for a log that has one writer."""

from __future__ import annotations

import base64
import pickle
import zlib
from typing import Any, NamedTuple

import msgspec

EVENT: dict[str, Any] = {
    "v": 1,
    "cluster": "c",
    "log_id": "l",
    "seq": 5,
    "op": "set",
    "observed_at_ms": 1000,
    "path": "/brokers/ids/1",
    "kind": "broker",
}


class Forged(NamedTuple):
    """The bytes, by what is wrong with them."""

    title: str
    value: bytes | None


_BIG = 2**63
_FIELDS: tuple[dict[str, Any], ...] = (
    {"v": 0.5},
    {"v": "1"},
    {"v": -1 - _BIG},
    {"v": 2},
    {"v": _BIG * 2},
    {"cluster": "d"},
    {"cluster": ""},
    {"cluster": None},
    {"cluster": ["c"]},
    {"cluster": "c\0"},
    {"cluster": "C"},
    {"log_id": "m"},
    {"log_id": 1},
    {"log_id": "l "},
    {"seq": -1},
    {"seq": 5.5},
    {"seq": "5"},
    {"seq": True},
    {"seq": 2**53},
    {"seq": _BIG},
    {"seq": None},
    {"op": "merge"},
    {"op": ""},
    {"op": "SET"},
    {"op": ["set"]},
    {"op": "seq_hole"},
    {"op": "seq_repeat"},
    {"op": "gap", "gap": {"id": "g", "reason": "bored"}},
    {"op": "gap", "gap": []},
    {"observed_at_ms": -1},
    {"observed_at_ms": 2**63 - 1},
    {"observed_at_ms": 1.5},
    {"observed_at_ms": "now"},
    {"path": 7},
    {"path": {"a": 1}},
    {"kind": 7},
    {"zxid": _BIG},
    {"zxid": "0x1"},
    {"stat": 1},
    {"stat": {"version": 2**31}},
    {"stat": {"czxid": _BIG}},
    {"stat": {"ephemeral_owner": "x"}},
    {"data": 7},
    {"data": {"a": 1}},
    {"fidelity": "true"},
    {"origin": "rumour"},
    {"missed": "many"},
)
_BYTES: dict[str, bytes | None] = {
    "none": None,
    "nothing": b"",
    "NULs": b"\0" * 100,
    "not UTF-8": b"\xff\xfe",
    "not UTF-8 inside": b'{"v":1,"cluster":"\xff"}',
    "a surrogate": b'{"v":1,"cluster":"\\ud800"}',
    "half of it": msgspec.json.encode(EVENT)[:-9],
    "twice": msgspec.json.encode(EVENT) * 2,
    "a list": b"[" + msgspec.json.encode(EVENT) + b"]",
    "a text": b'"set"',
    "null": b"null",
    "deep": b"[" * 100_000,
    "deep objects": b'{"stat":' * 50_000,
    "deep data": msgspec.json.encode(EVENT)[:-1] + b',"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "a huge number": msgspec.json.encode(EVENT)[:-1] + b',"zxid":' + b"9" * 100_000 + b"}",
    "a comment": b"/* */" + msgspec.json.encode(EVENT),
    "Python": b"__import__('os').system('x')",
    "a pickle": pickle.dumps(print),
    "XML": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
    "Avro": b"\0\0\0\0\x01" + b"x" * 100,
}
# Events by their form, whose data is none: the row says that it is malformed.
_BOMB = base64.b64encode(zlib.compress(b"x" * (64 << 20))).decode()
_DATA: dict[str, dict[str, str]] = {
    "no base64": {"data_zlib_b64": "%%%"},
    "no zlib": {"data_zlib_b64": "AAAA"},
    "a bomb": {"data_zlib_b64": _BOMB},
    "a zlib cut off": {"data_zlib_b64": _BOMB[:400]},
    "bytes": {"data_b64": "%%%"},
    "no JSON": {"data": "{"},
    "deep JSON": {"data": "[" * 50_000},
    "an unknown version": {"data": '{"version":99}'},
    "a script": {"data": "<script>alert(1)</script>"},
}
POISONED: tuple[Forged, ...] = tuple(
    Forged(f"data: {title}", msgspec.json.encode({**EVENT, **fields}))
    for title, fields in _DATA.items()
)
ATTEMPTS: tuple[Forged, ...] = (
    *(Forged(str(fields)[:60], msgspec.json.encode({**EVENT, **fields})) for fields in _FIELDS),
    *(
        Forged(
            f"without {name}", msgspec.json.encode({k: v for k, v in EVENT.items() if k != name})
        )
        for name in ("cluster", "log_id", "seq", "op", "observed_at_ms")
    ),
    *(Forged(title, value) for title, value in _BYTES.items()),
)
