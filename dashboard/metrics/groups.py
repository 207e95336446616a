"""Groups, their topics and their partitions, as metrics show them. Knows no table."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

Key = tuple[str, str]


class Sums(NamedTuple):
    """Partitions of a group, or of one of its topics, taken together; null: none is known."""

    partitions: int = 0
    owned: int = 0
    owners: int = 0
    uncommitted: int = 0
    committed: float | None = None
    lag: float | None = None
    raw_lag: float | None = None
    max_lag: int | None = None
    lag_seconds: float | None = None
    severity: int | None = None
    retention_share: float | None = None
    committed_at: datetime | None = None


class GroupTopic(NamedTuple):
    """One topic of a group."""

    group_id: str
    topic: str
    sums: Sums


class Commits(NamedTuple):
    """How often a group committed a partition since ZooKeeper keeps it."""

    group_id: str
    commits: int


class Owner(NamedTuple):
    """Who has a partition."""

    member_id: str
    host: str | None
    client_id: str | None


class Partition(NamedTuple):
    """One partition of a group."""

    coordinator: str
    group_id: str
    topic: str
    partition: int
    owner_member_id: str | None
    committed_offset: int | None
    lag: int | None
    raw_lag: int | None
    lag_seconds: float | None
    severity: int | None
    zookeeper_lag: int | None
    # The group has an offset on some partition of the topic.
    is_consumed: bool
    owner: Owner | None = None


@dataclass
class Group:
    """A group, and how often it rebalanced since the lake began."""

    coordinator: str
    group_id: str
    sums: Sums = field(default_factory=Sums)
    topics: tuple[GroupTopic, ...] = ()
    members: int = 0
    rebalances: int = 0
    failed_rebalances: int = 0
    rebalance_seconds: float | None = None
    is_rebalancing: bool = False

    @property
    def key(self) -> Key:
        """Who it is."""
        return self.coordinator, self.group_id
