"""One record of `__consumer_offsets` -> a commit, a group's state, or nothing. Never raises.

Versions are those of the releases 0.8.2 to 4.x. Keys of other types (the consumer and share groups
of KIP-848 and KIP-932) are passed over; offsets of such groups have the same keys as ever.
"""

from __future__ import annotations

from zklake.events.credentials import MASK, holds_secret
from zklake.events.offsets_topic.consumer_protocol import (
    CONSUMER,
    read_assignment,
    read_subscription,
)
from zklake.events.offsets_topic.wire import Malformed, Reader
from zklake.events.payloads.reading import Unreadable
from zklake.events.samples import Commit, GroupState, Member

# By the version that a key begins with; the two kinds share one line of numbers.
COMMIT_KEYS = (0, 1)
GROUP_KEY = 2
# From this version on a value has compact lengths and tagged fields. Later ones may only add tags.
FLEXIBLE = 4
METADATA_CHARACTERS = 200


def decode_record(
    key: bytes | None, value: bytes | None, at_ms: int | None = None
) -> Commit | GroupState | Unreadable | None:
    """None: of a type that is none of ours. `at_ms` is the record's own time."""
    if key is None:
        return Unreadable("no_data", "no key")
    reader = Reader(key)
    try:
        version = reader.int16()
        if version in COMMIT_KEYS:
            return _read_commit(reader, value, at_ms)
        return _read_group(reader, value, at_ms) if version == GROUP_KEY else None
    except Malformed as error:
        return Unreadable("not_recognised", str(error))


def _read_commit(key: Reader, value: bytes | None, at_ms: int | None) -> Commit | Unreadable:
    group_id, topic, partition = key.string(), key.string(), key.int32()
    if value is None:
        return Commit(group_id, topic, partition, commit_at_ms=at_ms, tombstone=True)
    reader, version = _open(value)
    if not 0 <= version <= FLEXIBLE:
        return _unknown(version)
    offset = reader.int64()
    leader_epoch = reader.int32() if version >= 3 else -1
    metadata = reader.nullable_string()
    commit_at_ms = reader.int64()
    expire_at_ms = reader.int64() if version == 1 else -1
    return Commit(
        group_id,
        topic,
        partition,
        committed_offset=offset,
        leader_epoch=_known(leader_epoch),
        metadata=clean_metadata(metadata),
        commit_at_ms=_known(commit_at_ms),
        expire_at_ms=_known(expire_at_ms),
    )


def _read_group(key: Reader, value: bytes | None, at_ms: int | None) -> GroupState | Unreadable:
    group_id = key.string()
    if value is None:
        return GroupState(group_id, state="Dead", at_ms=at_ms, tombstone=True)
    reader, version = _open(value)
    if not 0 <= version <= FLEXIBLE:
        return _unknown(version)
    protocol_type, generation = reader.string(), reader.int32()
    protocol, leader = reader.nullable_string(), reader.nullable_string()
    # Before version 2 only the record itself is dated.
    changed_at_ms = reader.int64() if version >= 2 else -1
    is_consumer = protocol_type == CONSUMER
    members = reader.array(lambda: _read_member(reader, version, is_consumer))
    return GroupState(
        group_id,
        # The coordinator writes a group when it has become stable, or empty: at no other time.
        state="Stable" if members else "Empty",
        generation=generation,
        protocol_type=protocol_type,
        protocol=protocol,
        leader=leader,
        at_ms=_known(changed_at_ms) or at_ms,
        members=members,
        member_count=len(members),
    )


def _read_member(reader: Reader, version: int, is_consumer: bool) -> Member:
    member_id = reader.string()
    group_instance_id = reader.nullable_string() if version >= 3 else None
    client_id, client_host = reader.string(), reader.string()
    rebalance_timeout_ms = reader.int32() if version >= 1 else -1
    session_timeout_ms = reader.int32()
    subscription, assignment = reader.nullable_bytes(), reader.nullable_bytes()
    reader.tags()
    return Member(
        member_id,
        group_instance_id=group_instance_id,
        client_id=client_id,
        client_host=client_host.removeprefix("/"),
        session_timeout_ms=_known(session_timeout_ms),
        rebalance_timeout_ms=_known(rebalance_timeout_ms),
        subscription=read_subscription(subscription) if is_consumer else None,
        assignment=read_assignment(assignment) if is_consumer else None,
    )


def _open(value: bytes) -> tuple[Reader, int]:
    reader = Reader(value)
    version = reader.int16()
    reader.flexible = version >= FLEXIBLE
    return reader, version


def _unknown(version: int) -> Unreadable:
    return Unreadable("unknown_version", f"{version}; known: 0 to {FLEXIBLE}")


def _known(number: int) -> int | None:
    return None if number < 0 else number


def clean_metadata(metadata: str | None) -> str | None:
    """A client's own note as it may be published: short, printable, and no credential."""
    if not metadata:
        return None
    if holds_secret(metadata):
        return MASK
    cut = metadata[:METADATA_CHARACTERS]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut)
