"""Records of `__consumer_offsets` as every release wrote them, made by hand from Kafka's schemas.

Written apart from the decoders: the newest versions are checked against a real broker's bytes.
"""

from __future__ import annotations

import struct


def i16(number: int) -> bytes:
    return struct.pack(">h", number)


def i32(number: int) -> bytes:
    return struct.pack(">i", number)


def i64(number: int) -> bytes:
    return struct.pack(">q", number)


def text(value: str | None) -> bytes:
    return i16(-1) if value is None else i16(len(value.encode())) + value.encode()


def blob(value: bytes | None) -> bytes:
    return i32(-1) if value is None else i32(len(value)) + value


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def compact(value: str | bytes | None) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(0) if raw is None else varint(len(raw) + 1) + raw


def commit_key(group: str, topic: str, partition: int, version: int = 1) -> bytes:
    return i16(version) + text(group) + text(topic) + i32(partition)


def group_key(group: str) -> bytes:
    return i16(2) + text(group)


def commit_value(
    version: int, offset: int, metadata: str = "", at: int = 1, epoch: int = -1, expire: int = -1
) -> bytes:
    head = i16(version) + i64(offset)
    if version >= 4:
        return head + i32(epoch) + compact(metadata) + i64(at) + b"\x00"
    if version == 3:
        return head + i32(epoch) + text(metadata) + i64(at)
    return head + text(metadata) + i64(at) + (i64(expire) if version == 1 else b"")


def member(version: int, number: int, subscription: bytes, assignment: bytes) -> bytes:
    put = compact if version >= 4 else text
    put_bytes = compact if version >= 4 else blob
    instance = put(f"i{number}" if number % 2 else None) if version >= 3 else b""
    timeouts = (i32(300_000) if version >= 1 else b"") + i32(45_000)
    names = put(f"m{number}") + instance + put("c") + put("/127.0.0.1")
    tags = b"\x00" if version >= 4 else b""
    return names + timeouts + put_bytes(subscription) + put_bytes(assignment) + tags


def group_value(version: int, protocol_type: str, members: list[bytes], at: int = 77) -> bytes:
    put = compact if version >= 4 else text
    count = varint(len(members) + 1) if version >= 4 else i32(len(members))
    named = bool(members)
    head = i16(version) + put(protocol_type) + i32(5)
    head += put("range" if named else None) + put("m0" if named else None)
    head += i64(at) if version >= 2 else b""
    return head + count + b"".join(members) + (b"\x00" if version >= 4 else b"")


def partitions(assigned: dict[str, list[int]]) -> bytes:
    topics = b"".join(
        text(topic) + i32(len(ids)) + b"".join(map(i32, ids)) for topic, ids in assigned.items()
    )
    return i32(len(assigned)) + topics


def subscription(version: int, topics: list[str]) -> bytes:
    out = i16(version) + i32(len(topics)) + b"".join(map(text, topics)) + blob(b"user")
    out += partitions({"orders": [1]}) if version >= 1 else b""
    out += i32(4) if version >= 2 else b""
    return out + (text("rack") if version >= 3 else b"")


def assignment(version: int, assigned: dict[str, list[int]]) -> bytes:
    return i16(version) + partitions(assigned) + blob(None)
