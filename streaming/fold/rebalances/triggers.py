"""Why a group rebalances, as a change shows it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from streaming.fold.changes import Change, OwnerState, TopicState

# What an episode is called by that shows no trigger of its own.
_FALLBACKS = ("owner_released", "unknown")
_OWNERS = ("owner_claimed", "owner_changed", "owner_released")
_MEMBERS = ("member_joined", "member_left")
_TOPICS = ("topic_created", "topic_changed", "topic_deleted")


class Trigger(NamedTuple):
    """The word for it, and who or what it was."""

    word: str
    member_id: str | None = None
    topic: str | None = None
    # Groups rebalance on it, but it does not show whether this one will.
    is_weak: bool = False
    # How the member left, where its session ended.
    exit: str | None = None

    @property
    def is_real(self) -> bool:
        """Whether it is a cause, and not only a sign that there was one."""
        return self.word not in _FALLBACKS


def is_causal(change: Change) -> bool:
    """Whether a change can belong to a rebalance; what was only seen to stand did not change."""
    return change.cause != "seen" and change.kind in (*_OWNERS, *_MEMBERS, *_TOPICS)


def is_of_owner(change: Change) -> bool:
    """Whether it is a claim or a release."""
    return change.kind in _OWNERS


def read_trigger(change: Change, takes_in: Callable[[str], bool]) -> Trigger:
    """The trigger that a causal change is, or the word that stands for the one it followed.

    `takes_in`: whether a wildcard of the group takes in a topic of that name.
    """
    if change.kind in _TOPICS:
        trigger = _read_topic(change, takes_in)
        is_missed = change.cause == "resync"
        return Trigger("unknown", is_weak=trigger.is_weak) if is_missed else trigger
    if change.cause == "resync":
        return Trigger("unknown")
    if change.kind == "member_joined":
        return Trigger("member_joined", change.member_id)
    member_id = change.member_id
    if isinstance(change.before, OwnerState):
        member_id = change.before.owner_member_id
    if change.cause == "session_ended":
        return Trigger("session_ended", member_id, exit=change.exit)
    if change.kind in ("member_left", "owner_released"):
        return Trigger(change.kind, member_id)
    return Trigger("unknown")


def _read_topic(change: Change, takes_in: Callable[[str], bool]) -> Trigger:
    before, after = change.before, change.after
    if not (isinstance(before, TopicState) and isinstance(after, TopicState)):
        if takes_in(change.topic or ""):
            return Trigger("topic_matched", topic=change.topic)
        # Who names a topic watches its data: it learns that it came, and passes over that it went.
        return Trigger("topic_changed", topic=change.topic, is_weak=after is None)
    if before.partitions is None or after.partitions is None:
        return Trigger("topic_changed", topic=change.topic, is_weak=True)
    if set(after.partitions) - set(before.partitions):
        return Trigger("partitions_added", topic=change.topic)
    is_weak = after.partitions == before.partitions
    return Trigger("topic_changed", topic=change.topic, is_weak=is_weak)
