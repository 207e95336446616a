"""/consumers: the old consumer's members, owners and offsets (0.7-1.1, and OffsetCommit v0).

Anyone may write this tree, so its data is read as hostile.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    UNREADABLE_ERRORS,
    Document,
    Int32,
    Int64,
    Payload,
    Stamped,
    Unreadable,
    explain,
    read_decimal,
    read_text,
)

Pattern = Literal["static", "white_list", "black_list"]


class Consumer(Stamped, frozen=True, kw_only=True):
    """A member's registration: streams by topic, or per matching topic by ONE Java regex."""

    pattern: Pattern = "static"
    subscription: dict[str, Int32]


class _ConsumerOnWire(Stamped, frozen=True, kw_only=True):
    pattern: str
    subscription: dict[str, Int32]


class Owner(Payload, frozen=True, kw_only=True):
    """Which thread consumes a partition: the consumer's id, and the stream's index."""

    thread_id: str
    member_id: str
    # None where a client of another maker wrote only its consumer id.
    stream: int | None = None


class Offset(Payload, frozen=True, kw_only=True):
    """The NEXT offset to read; in 0.7 a byte position. It may go down."""

    offset: Int64


_REGISTRATION = Document(_ConsumerOnWire, {1: ()})
_bare = msgspec.json.Decoder(dict[str, Int32])
# 0.7.1: `*2*ord.*` = whitelist with two streams, `!2!tmp.*` = blacklist.
_WILDCARD = re.compile(r"([*!])([0-9]{1,9})\1(.*)", re.DOTALL)
_THREAD = re.compile(r"(.+)-([0-9]{1,9})")
_NO_THREAD_ID = re.compile(r"[\s\x00-\x1f\"'{}=]")
# What a strict parser makes of an unescaped \b, \t, \n, \f, \r of a regex.
_UNESCAPED = str.maketrans({"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"})


def escape_backslashes(text: str) -> str:
    """Repair JSON of 0.8.0-0.8.1, which wrote a regex's backslashes raw."""
    return re.sub(r'\\(?!")', r"\\\\", text)


def decode_consumer(data: bytes | None) -> Consumer | Unreadable:
    """A registration of any release."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    if wildcard := _WILDCARD.fullmatch(text):
        pattern: Pattern = "white_list" if wildcard[1] == "*" else "black_list"
        return Consumer(pattern=pattern, subscription={wildcard[3]: int(wildcard[2])})
    consumer = _decode_json(text)
    if isinstance(consumer, Unreadable) and consumer.reason == "not_json" and "\\" in text:
        return _decode_json(escape_backslashes(text))
    return consumer


def _decode_json(text: str) -> Consumer | Unreadable:
    wire = _REGISTRATION.read(text)
    if not isinstance(wire, Unreadable):
        return _unwrap(wire)
    if wire.reason == "not_json":
        return wire
    try:
        # 0.7 has no wrapper, and a topic may well be called "version".
        return Consumer(subscription=_bare.decode(text))
    except UNREADABLE_ERRORS as error:
        bare = explain(error)
    return bare if wire == Unreadable("missing_field", "version") else wire


def _unwrap(wire: _ConsumerOnWire) -> Consumer:
    # Kafka takes any other word for static.
    if wire.pattern not in ("white_list", "black_list"):
        return Consumer(version=1, timestamp=wire.timestamp, subscription=wire.subscription)
    subscription = {_plain_regex(regex): count for regex, count in wire.subscription.items()}
    pattern: Pattern = "white_list" if wire.pattern == "white_list" else "black_list"
    return Consumer(version=1, pattern=pattern, timestamp=wire.timestamp, subscription=subscription)


def _plain_regex(regex: str) -> str:
    # 1.0-1.1 escaped twice; no topic's name holds a backslash, so two of them always mean one.
    return regex.replace("\\\\", "\\").translate(_UNESCAPED)


def decode_owner(data: bytes | None) -> Owner | Unreadable:
    """An owner; the consumer's id ends at the LAST dash."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    if _NO_THREAD_ID.search(text):
        return Unreadable("not_recognised", "no thread id")
    if thread := _THREAD.fullmatch(text):
        return Owner(thread_id=text, member_id=thread[1], stream=int(thread[2]))
    return Owner(thread_id=text, member_id=text)


def decode_offset(data: bytes | None) -> Offset | Unreadable:
    """A committed offset."""
    offset = read_decimal(data, -(2**63), 2**63 - 1)
    return offset if isinstance(offset, Unreadable) else Offset(offset=offset)


_CONSUMERS = (
    Sample("0.7", b'{ "orders": 2 }'),
    Sample("0.7.1-0.7.2, white list", b"*2*ord.*"),
    Sample("0.7.1-0.7.2, black list", b"!2!tmp.*"),
    Sample(
        "0.8.0-1.1",
        b'{"version":1,"subscription":{"orders":2,"bills":1},"pattern":"static",'
        b'"timestamp":"1794793318899"}',
    ),
    Sample(
        "0.8.0-0.8.1, invalid JSON",
        rb'{"version":1,"subscription":{"ord\.\d+|bil.*":2},"pattern":"white_list",'
        rb'"timestamp":"1794793318899"}',
    ),
    Sample(
        "0.8.2-0.11",
        rb'{"version":1,"subscription":{"ord\\.\\d+|bil.*":2},"pattern":"white_list",'
        rb'"timestamp":"1794793318899"}',
    ),
    Sample(
        "1.0-1.1, escaped twice",
        rb'{"version":1,"subscription":{"ord\\\\.\\\\d+|bil.*":2},"pattern":"white_list",'
        rb'"timestamp":"1794793318899"}',
    ),
)

KINDS = (
    directory("consumers_dir", "/consumers", "0.7-3.9"),
    directory("consumer_group_dir", "/consumers/[group_id]", "0.7-3.9"),
    directory("consumer_ids_dir", "/consumers/[group_id]/ids", "0.7-1.1"),
    Kind(
        "consumer",
        "/consumers/[group_id]/ids/[member_id]",
        "0.7-1.1",
        "a member of a group; the same id comes back after its session expired",
        decode_consumer,
        _CONSUMERS,
        mode="ephemeral",
    ),
    directory("owners_dir", "/consumers/[group_id]/owners", "0.7-1.1"),
    directory("owners_topic_dir", "/consumers/[group_id]/owners/[topic]", "0.7-1.1"),
    Kind(
        "owner",
        "/consumers/[group_id]/owners/[topic]/[partition]",
        "0.7-1.1",
        "the thread that consumes a partition; a re-claim is delete and create, equal value",
        decode_owner,
        (Sample("0.7-1.1", b"g1_vm-1794793318729-6a094f91-0"),),
        mode="ephemeral",
        also=("/consumers/[group_id]/owners/[topic]/[broker_id]-[partition]",),
    ),
    directory("offsets_dir", "/consumers/[group_id]/offsets", "0.7-3.9"),
    directory("offsets_topic_dir", "/consumers/[group_id]/offsets/[topic]", "0.7-3.9"),
    Kind(
        "offset",
        "/consumers/[group_id]/offsets/[topic]/[partition]",
        "0.7-3.9",
        "the next offset to read (0.7: a byte position); also of brokers serving OffsetCommit v0",
        decode_offset,
        (Sample("0.7-3.9", b"4711"),),
        also=("/consumers/[group_id]/offsets/[topic]/[broker_id]-[partition]",),
    ),
)
