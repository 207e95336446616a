"""Single changes of a group's world, and when each of them happened."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.presence import Move
from tests.reference.fold.states import stat_of
from tests.reference.fold.things import Member
from zklake.events.envelope import Event

Kind = Literal["came", "went", "changed"]
_FIELDS = {
    "member": ("pattern", "subscription", "session"),
    "owner": ("owner", "session"),
    "topic": ("version", "partitions"),
}
_WILD = ("white_list", "black_list")
_INTERNAL = ("__consumer_offsets", "__transaction_state")


class Change(NamedTuple):
    """One thing came, went or changed; `key` is a member's id, a (topic, partition), a topic."""

    what: str
    kind: Kind
    key: Any
    before: Any
    after: Any
    cause: str
    event: Event
    # Of a topic: some member reads it by a wildcard, not by its name.
    is_matched: bool = False
    # Of what went with its session: how its member left.
    exit: str | None = None

    @property
    def moment(self) -> tuple[int, int | None, int]:
        """(seq, zxid, when), by the znode's own clock where it is known."""
        event, stat = self.event, stat_of(self.event)
        zxid, at = event.zxid, event.observed_at_ms
        if event.op == "in_sync":
            return event.seq, None, at
        if event.op in ("create", "set", "read"):
            is_create = event.op == "create"
            own = (stat.czxid, stat.ctime) if is_create else (stat.mzxid, stat.mtime)
            zxid = zxid if own[0] is None else own[0]
            at = at if own[1] is None else own[1]
        return event.seq, zxid, at

    @property
    def own_ms(self) -> int | None:
        """When it was by ZooKeeper's clock; a delete does not say, nor does an unread znode."""
        stat = stat_of(self.event)
        times = {"create": stat.ctime, "set": stat.mtime, "read": stat.mtime}
        return timestamp(times.get(self.event.op))


def split(move: Move, event: Event) -> list[Change]:
    """What a move means: a life that gave way to another one went first."""
    key = move.key
    if move.what == "member":
        key = key[1]
    elif move.what == "owner":
        key = (key.topic, key.partition)
    before, after = move.before, move.after
    # Only what was not there before can be seen for the first time.
    cause = "inferred" if move.cause == "seen" and before is not None else move.cause
    if before is not None and after is not None and before.life != after.life:
        went = Change(move.what, "went", key, before, None, "inferred", event)
        return [went, Change(move.what, "came", key, None, after, cause, event)]
    if before is None or after is None:
        kind: Kind = "came" if before is None else "went"
        return [Change(move.what, kind, key, before, after, cause, event)]
    if not _differ(move):
        return []
    return [Change(move.what, "changed", key, before, after, cause, event)]


def _differ(move: Move) -> bool:
    """Whether the same life says something else; to learn whose session it is, is no news."""
    pairs = {n: (getattr(move.before, n), getattr(move.after, n)) for n in _FIELDS[move.what]}
    if None in pairs.get("session", ()):
        del pairs["session"]
    return any(was != now for was, now in pairs.values())


def is_known(member: Member) -> bool:
    """Whether it is known what a member reads; there are regexes that nobody should try."""
    if member.subscription is None:
        return False
    return member.pattern not in _WILD or not any(r"\1" in regex for regex in member.subscription)


def matches(member: Member, topic: str) -> bool:
    """Whether a member's wildcard is known to take a topic in."""
    return member.pattern in _WILD and subscribes(member, topic)


def subscribes(member: Member, topic: str) -> bool:
    """Whether a member is known to read a topic."""
    if member.subscription is None or not is_known(member):
        return False
    if member.pattern not in _WILD:
        return topic in member.subscription
    if topic in _INTERNAL or not topic.isascii():
        return False
    wanted = member.pattern == "white_list"
    return any(bool(re.fullmatch(regex, topic)) is wanted for regex in member.subscription)
