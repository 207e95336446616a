"""Members, owners and topics as their znodes tell them, and what an event does to one of them.

Pure. Lives and states as in the interval tables (streaming/marks.py, streaming/intervals.py): a
write whose value nobody could read, and a read of what stands already, only show it alive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from streaming.decoding import read_payload
from streaming.machines.changes import Cause, Change, Kind, MemberState, OwnerState, TopicState
from streaming.sights import State, is_echo, is_touch, read_state
from streaming.steps.row import find_moment, tame
from streaming.steps.surroundings import Surroundings
from streaming.steps.znode import is_new_life
from zklake.events.envelope import Event
from zklake.events.payloads.consumer import Consumer, Owner
from zklake.events.payloads.topic import Topic

_TOLD = ("create", "set", "read", "unreadable")
Key = TypeVar("Key")
Thing = TypeVar("Thing", MemberState, OwnerState, TopicState)
Verdict = Literal["nothing", "gone", "seen", "new", "changed", "other"]


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
    around: Surroundings,
    **place: Any,
) -> list[Change]:
    """Take an event of one znode into the book; what changed."""
    before = book.get(key)
    verdict = _judge(event, None if before is None else before.state)
    if before is not None and verdict == "seen":
        book[key] = replace(before, seen_seq=event.seq)
    if verdict in ("nothing", "seen"):
        return []
    cause = _find_cause(event, around, is_known=before is not None)
    if before is not None and verdict == "gone":
        del book[key]
        return [Change(kind.went, cause, before, None, **place)]
    after = book[key] = kind.read(event)
    if before is None:
        return [Change(kind.came, cause, None, after, **place)]
    if verdict == "other":
        went = Change(kind.went, "inferred", before, None, **place)
        return [went, Change(kind.came, cause, None, after, **place)]
    if not kind.differ(before, after):
        return []
    return [Change(kind.changed, cause, before, after, **place)]


def _judge(event: Event, standing: State | None) -> Verdict:
    if event.op == "delete":
        return "nothing" if standing is None else "gone"
    if event.op not in _TOLD:
        return "nothing"
    if standing is None:
        return "nothing" if is_touch(event) else "new"
    if is_touch(event) or is_echo(event, standing):
        return "seen"
    return "other" if is_new_life(event, standing.czxid) else "changed"


def _find_cause(event: Event, around: Surroundings, *, is_known: bool) -> Cause:
    if (event.cluster, event.seq) in around.session_closes:
        return "session_closed"
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
        from_ms=tame(find_moment(event).at_ms),
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
