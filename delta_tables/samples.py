"""How rows are made of samples: what brokers say of Kafka-stored groups, beside ZooKeeper's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from zklake.events.envelope import Event
from zklake.events.samples import GroupState, Member

# The coordinator of every row that is made of samples.
KAFKA = "kafka"


class Sample(msgspec.Struct, frozen=True, gc=False):
    """What a sample says of one key."""

    # The key's columns, less the cluster.
    key: tuple[Any, ...]
    # The other columns, what is not named is null; None: the key's state ends.
    values: Mapping[str, Any] | None
    # Since when it is so, epoch ms.
    at_ms: int


@dataclass(frozen=True)
class Samples:
    """One kind of sample, each item of which gives the state of one key."""

    op: str
    # Of a key that one event names twice the first counts.
    read: Callable[[Event], Iterable[Sample]]
    # The columns that make it another state: sampled again with equal ones, it is only seen.
    state: tuple[str, ...]
    # How the rows of its group end that an event does not name. None: they stay.
    ends_unnamed: Callable[[GroupState], str] | None = None


def list_members(group: GroupState) -> tuple[Member, ...]:
    """A group_state names all members of its group, unless they did not fit the record."""
    return () if group.tombstone else group.members or ()


def find_time(event: Event, at_ms: int | None) -> int:
    """The coordinator's time, where the sample has one."""
    return event.observed_at_ms if at_ms is None else at_ms


def end_unnamed(group: GroupState) -> str:
    """The word for what a group_state does not name."""
    is_cut = group.members is None and not group.tombstone and group.state != "Empty"
    return "unreadable" if is_cut else "deleted"
