"""Members, owners and topics as their znodes describe them, and what an event does to one of them.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from streaming.fold.changes import Cause, Change, Kind, MemberState, OwnerState, TopicState
from streaming.fold.context import Context
from streaming.fold.life import find_moment, judge, read_state
from streaming.fold.payload import read_payload
from zklake.events.envelope import Event
from zklake.events.payloads.consumer import Consumer, Owner
from zklake.events.payloads.topic import Topic

Key = TypeVar("Key")
Thing = TypeVar("Thing", MemberState, OwnerState, TopicState)


@dataclass(frozen=True)
class ZnodeKind(Generic[Thing]):
    """How a state of such a znode is read, when two differ, and the words for its life."""

    read: Callable[[Event], Thing]
    differ: Callable[[Thing, Thing], bool]
    came: Kind
    changed: Kind
    went: Kind


def take(
    book: dict[Key, Thing],
    key: Key,
    kind: ZnodeKind[Thing],
    event: Event,
    context: Context,
    **place: Any,
) -> list[Change]:
    """Take an event of one znode into the book; what changed."""
    before = book.get(key)
    verdict = judge(event, None if before is None else before.state)
    if before is not None and verdict == "seen":
        book[key] = replace(before, seen_seq=event.seq)
    if verdict in ("nothing", "seen"):
        return []
    cause = _find_cause(event, context, is_known=before is not None)
    if before is not None and verdict == "ended":
        del book[key]
        return [Change(kind.went, cause, before, None, **place, exit=context.exit)]
    after = book[key] = kind.read(event)
    if before is None:
        return [Change(kind.came, cause, None, after, **place)]
    if verdict == "recreated":
        went = Change(kind.went, "inferred", before, None, **place)
        return [went, Change(kind.came, cause, None, after, **place)]
    if not kind.differ(before, after):
        return []
    return [Change(kind.changed, cause, before, after, **place)]


def _find_cause(event: Event, context: Context, *, is_known: bool) -> Cause:
    if context.closes_session:
        return "session_ended"
    if event.origin == "resync":
        return "inferred"
    if event.op == "read":
        return "inferred" if is_known else "seen"
    return "event"


def _read_member(event: Event) -> MemberState:
    payload, _ = read_payload(event)
    known = payload if isinstance(payload, Consumer) else None
    return MemberState(
        (event.path or "").split("/")[4],
        pattern=known.pattern if known else None,
        subscription=known.subscription if known else None,
        session=_find_session(event),
        seen_seq=event.seq,
        state=read_state(event),
    )


def _read_owner(event: Event) -> OwnerState:
    payload, _ = read_payload(event)
    known = payload if isinstance(payload, Owner) else None
    return OwnerState(
        owner=known.thread_id if known else None,
        owner_member_id=known.member_id if known else None,
        session=_find_session(event),
        from_seq=event.seq,
        from_ms=find_moment(event).at_ms,
        seen_seq=event.seq,
        state=read_state(event),
    )


def _read_topic(event: Event) -> TopicState:
    payload, _ = read_payload(event)
    partitions = tuple(sorted(payload.partitions)) if isinstance(payload, Topic) else None
    return TopicState(partitions, event.seq, event.seq, read_state(event))


def _find_session(event: Event) -> int | None:
    return (event.stat.ephemeral_owner or None) if event.stat else None


def _is_other_session(before: int | None, after: int | None) -> bool:
    """To learn which session holds a znode is no change."""
    return None not in (before, after) and before != after


MEMBER: ZnodeKind[MemberState] = ZnodeKind(
    _read_member,
    lambda before, after: (
        (before.pattern, before.subscription) != (after.pattern, after.subscription)
        or _is_other_session(before.session, after.session)
    ),
    *("member_joined", "member_changed", "member_left"),
)
OWNER: ZnodeKind[OwnerState] = ZnodeKind(
    _read_owner,
    lambda before, after: (
        before.owner != after.owner or _is_other_session(before.session, after.session)
    ),
    *("owner_claimed", "owner_changed", "owner_released"),
)
# Groups rebalance on any write of a topic, also of an equal value.
TOPIC: ZnodeKind[TopicState] = ZnodeKind(
    _read_topic,
    lambda before, after: (
        before.state.version != after.state.version or before.partitions != after.partitions
    ),
    *("topic_created", "topic_changed", "topic_deleted"),
)
