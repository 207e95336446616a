"""The new point of a group's partition at a round: what is known, measured and judged. Pure."""

from __future__ import annotations

from streaming.fold.lag import lag_math
from streaming.fold.lag.commits import forget_other, remember
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point
from streaming.fold.lag.lag_math import UNMEASURED, Measure
from streaming.fold.lag.partition import Partition
from streaming.fold.lag.status import Status, Thresholds, follow_lag, judge


def make_point(
    group_partition: GroupPartition, facts: Facts, partition: Partition, at_ms: int, t: Thresholds
) -> Point:
    """The point as of this round; the facts follow it."""
    former = group_partition.point
    _take_over(group_partition, facts, partition)
    reason = lag_math.find_reason(group_partition, partition)
    found = UNMEASURED
    if reason is None:
        found = lag_math.measure(group_partition.commit, partition, at_ms)
    follow_lag(facts, found.lag, None if former is None else former.lag, at_ms)
    status = judge(group_partition, facts, found.lag, reason=reason, at_ms=at_ms, t=t)
    point = _put_together(group_partition, partition, reason, found, status)
    if found.lag is not None:
        put_motion(point, facts, former, at_ms)
    return point


def begin_facts(group_partition: GroupPartition, at_ms: int) -> Facts:
    """What is known of a group's partition that begins."""
    is_live, commit = group_partition.is_live, group_partition.commit
    facts = Facts(
        progress_ms=at_ms,
        rising_ms=at_ms,
        unowned_ms=at_ms if group_partition.is_unowned else None,
        left_ms=None if is_live else at_ms,
        is_peopled=is_live,
    )
    if commit is not None and commit.offset is not None and commit.offset >= 0:
        facts.offset = commit.offset
        facts.progress_ms = at_ms if commit.at_ms is None else min(commit.at_ms, at_ms)
    return facts


def _take_over(group_partition: GroupPartition, facts: Facts, partition: Partition) -> None:
    """The commit that counts now; what was known of another topic of that name does not."""
    remember(group_partition, facts)
    forget_other(facts, partition.topic_incarnation)
    former = group_partition.point
    if former is not None and former.incarnation != partition.topic_incarnation:
        facts.lag_since_ms = facts.rewound_from = facts.rewound_ms = None


def _put_together(
    group_partition: GroupPartition,
    partition: Partition,
    reason: str | None,
    found: Measure,
    status: Status,
) -> Point:
    """A point that does not move yet."""
    commit, seconds = group_partition.commit, found.seconds
    start, end = (partition.start, partition.end) if partition.is_open else (None, None)
    other, divergence = (
        (None, None) if group_partition.twin is None else lag_math.find_others(group_partition)
    )
    # Not by name: that takes ten times as long, and it is done for each at each round.
    return Point(
        partition.topic_incarnation,
        group_partition.owner,
        group_partition.owner_member_id,
        None if commit is None else commit.offset,
        None if commit is None else commit.at_ms,
        start,
        end,
        found.lag,
        found.raw_lag,
        reason,
        seconds.value,
        seconds.error,
        seconds.quality,
        None,
        None,
        found.retention_share,
        found.lost_records,
        None,
        other,
        divergence,
        status.name,
        status.since_ms,
    )


def put_motion(point: Point, facts: Facts, former: Point | None, at_ms: int) -> None:
    """How it moves, since the reference; too soon after it as before, in `former`."""
    reference, lag = facts.reference, point.lag
    committed, start = point.committed_offset, point.log_start_offset
    point.velocity = point.loss_at = point.catch_up_seconds = None
    if reference is None or lag is None or committed is None or start is None:
        return
    if at_ms - reference.sampled_ms >= 1000:
        point.velocity, point.loss_at = lag_math.find_motion(
            reference, lag, committed, start, at_ms
        )
    elif former is not None:
        point.velocity, point.loss_at = former.velocity, former.loss_at
    if lag and point.velocity is not None and point.velocity < 0:
        point.catch_up_seconds = lag / -point.velocity
