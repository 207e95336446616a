"""One (coordinator, group, topic, partition): its commits, its owner, its open row of offset_lag.

Plain values, kept small: there may be 100,000 of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.lag.partition import Partition
from streaming.fold.life import State
from streaming.fold.pauses.silence import Silence
from streaming.fold.subscriptions import Subscribed


class Commit(msgspec.Struct, gc=False):
    """A committed offset; of an `is_gone` one only the seq is known."""

    seq: int
    offset: int | None = None
    at_ms: int | None = None
    zxid: int | None = None
    # Of the topic when it came, or of the next one that came to stand; None: none yet.
    incarnation: int | None = None
    is_gone: bool = False


class Reference(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The last values of the minute before, or of another status: what pace is measured from."""

    sampled_ms: int
    lag: int
    committed: int
    start: int


class Point(msgspec.Struct, gc=False, array_like=True):
    """The payload of a row of offset_lag, but for sampled_at; times are epoch milliseconds."""

    incarnation: int | None
    owner: str | None
    owner_member_id: str | None
    committed_offset: int | None
    committed_at: int | None
    log_start_offset: int | None
    log_end_offset: int | None
    lag: int | None
    raw_lag: int | None
    reason: str | None
    lag_seconds: float | None
    lag_seconds_error: float | None
    lag_quality: str
    velocity: float | None
    catch_up_seconds: float | None
    retention_share: float | None
    lost_records: int | None
    loss_at: int | None
    other_offset: int | None
    divergence: int | None
    status: str | None
    status_since: int | None


class Within(msgspec.Struct, gc=False, array_like=True):
    """What came within a row that goes on although its point has changed: lag and its extremes."""

    # The newest point, and since when it holds.
    last: Point
    since_ms: int
    # Points so far; and lag times the milliseconds for which it held, up to since_ms.
    points: int
    lag_area: int
    lag_min: int | None
    lag_max: int | None
    lag_seconds_min: float | None
    lag_seconds_max: float | None


class Facts(msgspec.Struct, omit_defaults=True, gc=False):
    """What must be remembered of a group's partition beyond its row; it travels in fold_state."""

    # When a commit last raised the offset.
    progress_ms: int
    # The last known offset, its zxid, and of which incarnation it is (see Commit).
    offset: int | None = None
    zxid: int | None = None
    incarnation: int | None = None
    # The first round of the present run of lag > 0.
    lag_since_ms: int | None = None
    # When lag last fell, was 0 or unknown, and what it was then.
    rising_ms: int = 0
    rising_lag: int | None = None
    # Since when it is unowned (see GroupPartition).
    unowned_ms: int | None = None
    # The offset before it fell, and when it did.
    rewound_from: int | None = None
    rewound_ms: int | None = None
    # Since its last progress, for consumption_pauses.
    silence: Silence | None = None
    # When the last member left that read the topic.
    left_ms: int | None = None
    # Whether anybody was seen that read it since it began.
    is_peopled: bool = False
    # Of a row that waits for its end (see GroupPartition): rounds that are blind do not end it.
    gone_by: str = "deleted"
    reference: Reference | None = None
    # None: the row holds all that there was in its time.
    within: Within | None = None


@dataclass(slots=True, eq=False)
class LagGroup:
    """A group, and what it has to do with which partition."""

    key: GroupKey
    subscribed: Subscribed
    # Whether a partition that nobody is said to own has no owner.
    knows_owners: bool
    # Of the topics of its groups: whether a member reads it.
    live: dict[str, bool] = field(default_factory=dict)
    group_partitions: dict[PartitionKey, GroupPartition] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class GroupPartition:
    """One partition of a group."""

    group: LagGroup
    partition: Partition
    # The same partition of the same group at the other coordinator.
    twin: GroupPartition | None = None
    # The commit that rounds pair with, and states that came after the requests of the last one.
    commit: Commit | None = None
    waiting: list[Commit] = field(default_factory=list)
    # Whether a commit stands by the last event; which state of its znode, and when last seen.
    has_commit: bool = False
    life: State | None = None
    seen_seq: int = -1
    has_owner: bool = False
    owner: str | None = None
    owner_member_id: str | None = None
    # When it claimed the partition.
    claim_ms: int | None = None
    # The word for the last thing that went.
    gone_by: str = "deleted"
    # The newest point, and the one that the open row began with; None: there is no row yet.
    point: Point | None = None
    first: Point | None = None
    facts: Facts | None = None
    sampled_ms: int | None = None
    row_seq: int = -1
    row_ms: int | None = None
    row_seen_seq: int = -1
    # Until when the same inputs give the same row, and by which version of the partition.
    quiet_until_ms: int = 0
    version: int = -1

    @property
    def is_live(self) -> bool:
        """Whether a member of the group reads the topic, as far as anybody can say."""
        return self.group.live[self.partition.topic]

    @property
    def is_unowned(self) -> bool:
        """Whether somebody should own it, and nobody does."""
        return not self.has_owner and self.is_live and self.group.knows_owners

    @property
    def is_there(self) -> bool:
        """Whether a commit or an owner stands."""
        return self.has_owner or self.has_commit

    def forget_row(self) -> None:
        """The open row has ended, and none follows on it."""
        self.point = self.first = self.facts = self.sampled_ms = self.row_ms = None
        self.row_seq = self.row_seen_seq = self.version = -1
