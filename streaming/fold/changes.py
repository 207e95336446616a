"""What may stand in a cluster (members, owners, topics, Kafka-stored groups), and how it changes.

Plain values: whoever follows the log event by event speaks in these words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from streaming.fold.life import State

Coordinator = Literal["zookeeper", "kafka"]
Kind = Literal[
    "member_joined",
    "member_changed",  # its pattern, subscription or session
    "member_left",
    "owner_claimed",
    "owner_changed",  # its owner or session, in one life of the znode
    "owner_released",
    "topic_created",
    "topic_changed",  # its data was written, also with an equal value
    "topic_deleted",
    "group_changed",  # generation or state of a Kafka-stored group; after None: it is gone
]
Cause = Literal[
    "event",  # the event itself shows it
    "session_ended",  # the session that held it ended
    "resync",  # a complete look at the tree, or at Kafka's groups, did not meet it
    "inferred",  # found by comparing with what stood: nobody saw it happen
    "seen",  # first sight of it (op read): it stands, but no change is claimed
]


# Stands for the state of a znode in Kafka's own groups.
NO_ZNODE = State(None, None, "exact")


class GroupKey(NamedTuple):
    """A group, and who keeps it."""

    coordinator: Coordinator
    group_id: str


class PartitionKey(NamedTuple):
    """A partition."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class MemberState:
    """A member; what is not known is None. Of Kafka's own groups `subscription` has 1 per topic."""

    member_id: str
    pattern: str | None = None
    subscription: Mapping[str, int] | None = None
    session: int | None = None
    seen_seq: int = -1
    client_id: str | None = None
    host: str | None = None
    group_instance_id: str | None = None
    state: State = NO_ZNODE


@dataclass(frozen=True, slots=True)
class OwnerState:
    """An owner of a partition, since `from_seq`; None: its value is not known."""

    owner: str | None
    owner_member_id: str | None
    session: int | None
    from_seq: int
    from_ms: int | None
    seen_seq: int
    state: State = NO_ZNODE


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it is since `from_seq`; `partitions` are sorted, None: not known (also 0.7's)."""

    partitions: tuple[int, ...] | None
    from_seq: int
    seen_seq: int
    state: State

    @property
    def incarnation(self) -> int | None:
        """Which topic of that name this is."""
        return self.state.czxid


@dataclass(frozen=True, slots=True)
class KafkaGroup:
    """A Kafka-stored group as last published."""

    generation: int | None
    state: str | None
    protocol_type: str | None
    seen_seq: int
    # None: members did not fit the record, and are not known; then nobody stands in `members`.
    has_members: bool | None = False
    # False: of some member it is not known what it was assigned.
    is_assigned: bool = True


Thing = MemberState | OwnerState | TopicState | KafkaGroup


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that came, changed or went. `before` and `after` are of the same class."""

    kind: Kind
    cause: Cause
    before: Thing | None
    after: Thing | None
    group: GroupKey | None = None
    member_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    # Of what went with its session: how its member left, as `exit` of consumer_membership says.
    exit: str | None = None
