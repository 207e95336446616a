"""A group's partition at a round: its new point, and whether that changes its row or begins one."""

from __future__ import annotations

from dataclasses import dataclass, field

from streaming.fold.lag import lag_math, rows
from streaming.fold.lag.commits import forget_other, remember
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point
from streaming.fold.lag.lag_math import STILL, UNMEASURED, Measure, Motion
from streaming.fold.lag.partition import Partition
from streaming.fold.lag.status import Status, Thresholds, find_next_change, follow_lag, judge
from streaming.fold.row import Row


@dataclass
class Evaluation:
    """Rows of offset_lag; they change only at rounds."""

    cluster: str
    thresholds: Thresholds
    ended: list[Row] = field(default_factory=list)

    def pass_over(
        self,
        group_partition: GroupPartition,
        partition: Partition,
        seq: int,
        at_ms: int,
        *,
        is_vouched: bool,
    ) -> None:
        """Bring a group's partition up to a round; most often only time has passed."""
        facts = group_partition.facts
        if (
            facts is None
            or group_partition.version != partition.version
            or at_ms >= group_partition.quiet_until_ms
        ):
            self._evaluate(group_partition, partition, seq, at_ms)
        else:
            group_partition.row_seen_seq = seq
            if not group_partition.point or not group_partition.point.lag:
                facts.rising_ms = at_ms
        if is_vouched:
            group_partition.sampled_ms = at_ms

    def _evaluate(
        self, group_partition: GroupPartition, partition: Partition, seq: int, at_ms: int
    ) -> None:
        former = group_partition.point
        facts = group_partition.facts
        if facts is None:
            facts = group_partition.facts = _begin(group_partition, at_ms)
        point = self._make_point(group_partition, facts, partition, at_ms)
        if former is None:
            self._open(group_partition, point, seq, at_ms)
        elif point == former or self._is_same_point(group_partition, point, at_ms):
            group_partition.point = point
        else:
            self.end(group_partition, seq, at_ms, "changed")
            is_same = former.incarnation == point.incarnation
            reference = (
                lag_math.make_reference(former, group_partition.sampled_ms) if is_same else None
            )
            facts.reference = reference
            _put_motion(point, facts, former, at_ms)
            self._open(group_partition, point, seq, at_ms)
        group_partition.row_seen_seq = seq
        group_partition.version = partition.version
        group_partition.quiet_until_ms = self._find_quiet(facts, point, at_ms)

    def _is_same_point(self, group_partition: GroupPartition, point: Point, at_ms: int) -> bool:
        """Still the same stretch of time, and nothing but numbers has moved."""
        former, length_ms = group_partition.point, self.thresholds.point_ms
        return (
            former is not None
            and group_partition.row_ms is not None
            and at_ms // length_ms == group_partition.row_ms // length_ms
            and former.status == point.status
            and former.owner == point.owner
            and former.incarnation == point.incarnation
            and former.reason == point.reason
        )

    def _make_point(
        self, group_partition: GroupPartition, facts: Facts, partition: Partition, at_ms: int
    ) -> Point:
        former = group_partition.point
        _take_over(group_partition, facts, partition)
        reason = lag_math.find_reason(group_partition, partition)
        found = (
            lag_math.measure(group_partition.commit, partition, at_ms)
            if reason is None
            else UNMEASURED
        )
        follow_lag(facts, found.lag, None if former is None else former.lag, at_ms)
        status = judge(
            group_partition, facts, found.lag, reason=reason, at_ms=at_ms, t=self.thresholds
        )
        point = _put_together(group_partition, partition, reason, found, status)
        if found.lag is not None:
            _put_motion(point, facts, former, at_ms)
        return point

    def _find_quiet(self, facts: Facts, point: Point, at_ms: int) -> int:
        """Until when the same commit, log end and owner give the same point."""
        if point.velocity or point.loss_at is not None:
            return 0
        if facts.reference is not None and at_ms - facts.reference.sampled_ms < 1000:
            return 0
        until_ms = find_next_change(facts, at_ms, self.thresholds)
        # Curves are thinned with the hour.
        return min(until_ms, at_ms - at_ms % HOUR_MS + HOUR_MS) if point.lag else until_ms

    def _open(self, group_partition: GroupPartition, point: Point, seq: int, at_ms: int) -> None:
        group_partition.point = point
        group_partition.row_seq, group_partition.row_ms = seq, at_ms

    def end(self, group_partition: GroupPartition, seq: int, at_ms: int, word: str) -> None:
        """End the open row."""
        self.ended.append(rows.write_ended(self.cluster, group_partition, seq, at_ms, word))


def _begin(group_partition: GroupPartition, at_ms: int) -> Facts:
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


def _put_motion(point: Point, facts: Facts, former: Point | None, at_ms: int) -> None:
    known = STILL if former is None else Motion(former.velocity, former.loss_at)
    committed, start = point.committed_offset, point.log_start_offset
    point.velocity = point.loss_at = point.catch_up_seconds = None
    if point.lag is None or committed is None or start is None:
        return
    point.velocity, point.loss_at = lag_math.find_motion(
        facts.reference, point.lag, committed, start, at_ms=at_ms, former=known
    )
    if point.lag and point.velocity is not None and point.velocity < 0:
        point.catch_up_seconds = point.lag / -point.velocity
