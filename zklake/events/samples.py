"""What the watched brokers said: log ends and Kafka-stored groups, as they stand on the wire.

Part of the contract (zklake/events/envelope.py). It knows nothing of clients, rounds or tables.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from zklake.events.payloads.reading import Int64

# Ops of events that carry a sample, each in a field of that name.
SAMPLE_OPS = ("log_ends", "group_commit", "group_state")

GroupSource = Literal[
    "offsets_topic",  # __consumer_offsets is read: every commit is seen, the last per round is said
    "admin_api",  # groups are asked each round: what happened between two rounds is not seen
]


class LogEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    """Log start and end of one partition; said when any of it differs from what was last said."""

    # The topic
    topic: str
    # and the partition.
    partition: Int64
    # The leader that was asked; absent when there is none.
    broker_id: Int64 | None = None
    # The first offset that is still there.
    log_start_offset: Int64 | None = None
    # The offset that the next record will get, as a consumer sees it (the high watermark).
    log_end_offset: Int64 | None = None
    # Why this partition's offsets are not known, in Kafka's words; they are absent then.
    error: str | None = None


class BrokerFailure(msgspec.Struct, frozen=True):
    """A broker that did not answer: of its partitions this round confirms nothing."""

    # The broker.
    broker_id: Int64
    # Why, in the client's words.
    reason: str


class GroupReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far Kafka-stored groups are known at a round."""

    # Where commits come from; absent while nothing can be read.
    source: GroupSource | None = None
    # All that stands in the brokers has been said at or after this seq: what was said only before
    # it is gone. Absent until everything was read once.
    complete_since_seq: Int64 | None = None
    # Partitions of __consumer_offsets that are not read to their end: their commits come late.
    partitions_behind: Int64 = 0
    # Commit records seen since the last round, of which the last of each key is said.
    commits_seen: Int64 = 0
    # Records that could not be decoded, since the watcher started.
    unreadable: Int64 = 0
    # What is wrong; while it stands, silence of a group proves nothing.
    reason: str | None = None

    @property
    def vouched_since_seq(self) -> int | None:
        """Since when this reading vouches for all groups; None: it does not."""
        is_whole = self.reason is None and not self.partitions_behind
        return self.complete_since_seq if is_whole else None


class Round(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end of a round. A slow broker has a round of its own, later, with its own after_seq."""

    # The last seq when the requests were sent: whatever stands up to it happened before.
    after_seq: Int64
    # From the requests to this answer.
    took_ms: Int64 = 0
    # Brokers that answered: what was last said of their partitions still holds if not said anew.
    brokers_answered: tuple[Int64, ...] = ()
    # Brokers that did not; in a base also those that have not answered yet.
    brokers_failed: tuple[BrokerFailure, ...] = ()
    # True in the first round of a watcher, and once per watcher.frame_interval_s: what was said of
    # partitions before it no longer holds; of those of brokers_failed not before they answer.
    is_base: bool = False
    # Why nobody could be asked at all.
    reason: str | None = None
    # How far Kafka-stored groups are known.
    groups: GroupReading | None = None


class LogEnds(msgspec.Struct, frozen=True, omit_defaults=True):
    """Partitions that changed; the last record of a round also carries the round."""

    # Partitions, in no order.
    partitions: tuple[LogEnd, ...] = ()
    # The round that ends here.
    round: Round | None = None


class Commit(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last commit of one (group, topic, partition) in an interval."""

    # The group,
    group_id: str
    # the topic
    topic: str
    # and the partition.
    partition: Int64
    # The next offset to read; absent in a tombstone.
    committed_offset: Int64 | None = None
    # The leader epoch of the last record read, where the client sent it.
    leader_epoch: Int64 | None = None
    # The client's own note, cut to 200 characters, control characters replaced; masked where it
    # looks like a credential.
    metadata: str | None = None
    # The coordinator's clock at the commit; absent where the source lacks it.
    commit_at_ms: Int64 | None = None
    # When the offset expires, where the client asked for it (before 2.1).
    expire_at_ms: Int64 | None = None
    # True: the offset was deleted or has expired.
    tombstone: bool = False


class GroupCommits(msgspec.Struct, frozen=True):
    """Commits of one interval, or a part of them."""

    # Each key at most once per interval.
    commits: tuple[Commit, ...]


class TopicPartitions(msgspec.Struct, frozen=True):
    """Partitions of one topic."""

    # The topic
    topic: str
    # and its partitions.
    partitions: tuple[Int64, ...]


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """One member of a Kafka-stored group."""

    # The id that the coordinator gave it.
    member_id: str
    # The id that its owner gave it (static membership).
    group_instance_id: str | None = None
    # The client's name for itself,
    client_id: str | None = None
    # and where it connected from.
    client_host: str | None = None
    # Session
    session_timeout_ms: Int64 | None = None
    # and rebalance timeout.
    rebalance_timeout_ms: Int64 | None = None
    # Topics subscribed to; absent where the protocol is not the consumers', where it is not sent,
    # and where the group did not fit a record with them.
    subscription: tuple[str, ...] | None = None
    # Partitions assigned; absent likewise.
    assignment: tuple[TopicPartitions, ...] | None = None


class GroupState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A Kafka-stored group after a rebalance, or when it became empty."""

    # The group.
    group_id: str
    # Stable or Empty by the offsets topic; the broker's word where groups are asked.
    state: str | None = None
    # Grows by one with each rebalance; absent where groups are asked.
    generation: Int64 | None = None
    # "consumer", "connect", or another; "" for a group that only commits.
    protocol_type: str | None = None
    # The assignor chosen, such as range.
    protocol: str | None = None
    # The member that computed the assignment.
    leader: str | None = None
    # The coordinator's clock when it was so.
    at_ms: Int64 | None = None
    # Its members; absent where they did not fit a record (fidelity oversize).
    members: tuple[Member, ...] | None = None
    # How many there are, also where they did not fit.
    member_count: Int64 | None = None
    # True: the group is gone.
    tombstone: bool = False


Sample = LogEnds | GroupCommits | GroupState
