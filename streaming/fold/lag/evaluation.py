"""A group's partition at a round: its new point, and whether that begins a row.

A row's payload is the point it began with, for ever; another point is another row. Where a round
changes more points than may begin rows, those that differ in numbers only, within the same minute,
go on in their row, which then carries least, most and last. That is decided by the round as a
whole, after all are measured: no order and no cut of the log can be seen in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from streaming.fold.lag import lag_math, rows
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.group_partition import Facts, GroupPartition, Point, Within
from streaming.fold.lag.partition import Partition
from streaming.fold.lag.points import begin_facts, make_point, put_motion
from streaming.fold.lag.status import Thresholds, find_next_change
from streaming.fold.row import StoredRow


class _Change(msgspec.Struct, frozen=True, gc=False):
    """Another point than before, until the round knows how many there are."""

    group_partition: GroupPartition
    point: Point
    is_vouched: bool
    # Whether it may go on in the row that stands.
    is_same_stretch: bool


@dataclass
class Evaluation:
    """Rows of offset_lag; they change only at rounds."""

    cluster: str
    thresholds: Thresholds
    ended: list[StoredRow] = field(default_factory=list)
    _changes: list[_Change] = field(default_factory=list)

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
        facts, change = group_partition.facts, None
        if (
            facts is None
            or group_partition.version != partition.version
            or at_ms >= group_partition.quiet_until_ms
        ):
            change = self._evaluate(group_partition, partition, seq, at_ms, is_vouched)
        elif not group_partition.point or not group_partition.point.lag:
            facts.rising_ms = at_ms
        if change is None:
            _see(group_partition, seq, at_ms, is_vouched)
        else:
            self._changes.append(change)

    def _evaluate(
        self,
        group_partition: GroupPartition,
        partition: Partition,
        seq: int,
        at_ms: int,
        is_vouched: bool,
    ) -> _Change | None:
        """The new point, if there is a row with another one."""
        former, facts = group_partition.point, group_partition.facts
        if facts is None:
            facts = group_partition.facts = begin_facts(group_partition, at_ms)
        point = make_point(group_partition, facts, partition, at_ms, self.thresholds)
        change = None
        if former is None:
            self._open(group_partition, point, seq, at_ms)
        elif point != former:
            is_same_stretch = self._is_same_stretch(group_partition, point, at_ms)
            change = _Change(group_partition, point, is_vouched, is_same_stretch)
            if not is_same_stretch:
                is_same = former.incarnation == point.incarnation
                sampled_ms = group_partition.sampled_ms
                facts.reference = lag_math.make_reference(former, sampled_ms) if is_same else None
                put_motion(point, facts, former, at_ms)
        group_partition.version = partition.version
        group_partition.quiet_until_ms = self._find_quiet(facts, point, at_ms)
        return change

    def end_round(self, seq: int, at_ms: int) -> None:
        """Give the points that changed their rows."""
        is_crowded = len(self._changes) > self.thresholds.points_per_round
        for change in self._changes:
            group_partition, point = change.group_partition, change.point
            if is_crowded and change.is_same_stretch:
                _go_on(group_partition, point, at_ms)
            else:
                self.end(group_partition, seq, at_ms, "changed")
                self._open(group_partition, point, seq, at_ms)
            _see(group_partition, seq, at_ms, change.is_vouched)
        self._changes = []

    def _is_same_stretch(self, group_partition: GroupPartition, point: Point, at_ms: int) -> bool:
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
            and (former.lag_seconds is None) == (point.lag_seconds is None)
        )

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
        group_partition.point = group_partition.first = point
        group_partition.row_seq, group_partition.row_ms = seq, at_ms
        if group_partition.facts is not None:
            group_partition.facts.within = None

    def end(self, group_partition: GroupPartition, seq: int, at_ms: int, word: str) -> None:
        """End the open row."""
        self.ended.append(rows.write_ended(self.cluster, group_partition, seq, at_ms, word))


def _see(group_partition: GroupPartition, seq: int, at_ms: int, is_vouched: bool) -> None:
    """Its row still held at this round."""
    group_partition.row_seen_seq = seq
    if is_vouched:
        group_partition.sampled_ms = at_ms


def _go_on(group_partition: GroupPartition, point: Point, at_ms: int) -> None:
    """Another point within the same row."""
    facts, former = group_partition.facts, group_partition.point
    assert facts is not None
    assert former is not None
    w = facts.within
    if w is None:
        lag, seconds = former.lag, former.lag_seconds
        since_ms = group_partition.row_ms or at_ms
        w = facts.within = Within(former, since_ms, 1, 0, lag, lag, seconds, seconds)
    w.lag_area += (former.lag or 0) * (at_ms - w.since_ms)
    w.last, w.since_ms, w.points = point, at_ms, w.points + 1
    if point.lag is not None and w.lag_min is not None and w.lag_max is not None:
        w.lag_min, w.lag_max = min(w.lag_min, point.lag), max(w.lag_max, point.lag)
    seconds = point.lag_seconds
    if seconds is not None and w.lag_seconds_min is not None and w.lag_seconds_max is not None:
        w.lag_seconds_min = min(w.lag_seconds_min, seconds)
        w.lag_seconds_max = max(w.lag_seconds_max, seconds)
    group_partition.point = point
