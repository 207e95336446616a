"""Data that no Kafka would write, for every kind of znode whose data is read."""

from __future__ import annotations

from typing import NamedTuple

from zklake.events.kind import Kind
from zklake.events.kinds import KINDS

_DEEP = 20_000
# A secret where none belongs: it must not leave the process.
SECRET = b"c4nary-znode"
BYTES: dict[str, bytes] = {
    "not UTF-8": b"\xff\xfe\x00\x01" * 50,
    "NULs": b"\0" * 1000,
    "half a character": b'{"version":1,"x":"\xe2\x82"}',
    "surrogates": b'{"version":1,"host":"\\ud800\\udfff","topic":"\\udc00"}',
    "deep lists": b"[" * _DEEP,
    "deep objects": b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
    "a huge number": b'{"version":' + b"9" * 5000 + b"}",
    "a number out of range": b'{"version":1,"brokerid":9223372036854775808,"port":1e400}',
    "NaN": b'{"version":NaN,"port":Infinity}',
    "doubled keys": b'{"version":1,"version":2,"host":"a","host":"b"}',
    "types turned": b'{"version":"1","partitions":[1],"host":{},"port":[],"config":7}',
    "a list": b'[{"version":1}]',
    "a number": b"-0",
    "a bare word": b"null",
    "lines": b"1\n2\r\n3",
    "a secret": b'{"version":1,"password":"%b","config":{"sasl.jaas.config":"%b"}}'
    % (SECRET, SECRET),
    "many keys": b"{" + b",".join(b'"%d":[1]' % n for n in range(20_000)) + b"}",
    "trailing bytes": b'{"version":1}}}}<script>',
}
_DECODED = tuple(kind for kind in KINDS if any(sample.data for sample in kind.samples))


class Znode(NamedTuple):
    """A kind and the bytes that are found in it."""

    kind: Kind
    title: str
    data: bytes


ATTEMPTS: tuple[Znode, ...] = tuple(
    Znode(kind, title, data)
    for number, kind in enumerate(_DECODED)
    for place, (title, data) in enumerate(BYTES.items())
    # Each kind meets the half of them, and each of them half of the kinds; the secret all.
    if (number + place) % 2 == 0 or title == "a secret"
)
