"""A subject at a round: its new point, and whether that changes its row or begins another."""

from __future__ import annotations

from dataclasses import dataclass, field

from streaming.fold.lag import reckoning, rows
from streaming.fold.lag.commits import forget_other, remember
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.place import Place
from streaming.fold.lag.reckoning import STILL, UNMEASURED, Measure, Motion
from streaming.fold.lag.status import Status, Thresholds, find_next_change, follow_lag, judge
from streaming.fold.lag.subject import Facts, Point, Subject
from streaming.fold.row import Row


@dataclass
class Evaluation:
    """Rows of offset_lag; they change only at rounds."""

    cluster: str
    thresholds: Thresholds
    ended: list[Row] = field(default_factory=list)

    def pass_over(
        self, subject: Subject, place: Place, seq: int, at_ms: int, *, is_vouched: bool
    ) -> None:
        """Bring a subject up to a round; most often only time has passed."""
        facts = subject.facts
        if facts is None or subject.version != place.version or at_ms >= subject.quiet_until_ms:
            self._evaluate(subject, place, seq, at_ms)
        else:
            subject.row_seen_seq = seq
            if not subject.point or not subject.point.lag:
                facts.rising_ms = at_ms
        if is_vouched:
            subject.sampled_ms = at_ms

    def _evaluate(self, subject: Subject, place: Place, seq: int, at_ms: int) -> None:
        former = subject.point
        facts = subject.facts
        if facts is None:
            facts = subject.facts = _begin(subject, at_ms)
        point = self._make_point(subject, facts, place, at_ms)
        if former is None:
            self._open(subject, point, seq, at_ms)
        elif point == former or self._is_same_point(subject, point, at_ms):
            subject.point = point
        else:
            self.end(subject, seq, at_ms, "changed")
            is_same = former.incarnation == point.incarnation
            reference = reckoning.make_reference(former, subject.sampled_ms) if is_same else None
            facts.reference = reference
            _put_motion(point, facts, former, at_ms)
            self._open(subject, point, seq, at_ms)
        subject.row_seen_seq = seq
        subject.version = place.version
        subject.quiet_until_ms = self._find_quiet(facts, point, at_ms)

    def _is_same_point(self, subject: Subject, point: Point, at_ms: int) -> bool:
        """Still the same stretch of time, and nothing but numbers has moved."""
        former, length_ms = subject.point, self.thresholds.point_ms
        return (
            former is not None
            and subject.row_ms is not None
            and at_ms // length_ms == subject.row_ms // length_ms
            and former.status == point.status
            and former.owner == point.owner
            and former.incarnation == point.incarnation
            and former.reason == point.reason
        )

    def _make_point(self, subject: Subject, facts: Facts, place: Place, at_ms: int) -> Point:
        former = subject.point
        _take_over(subject, facts, place)
        reason = reckoning.find_reason(subject, place)
        found = reckoning.measure(subject.commit, place, at_ms) if reason is None else UNMEASURED
        follow_lag(facts, found.lag, None if former is None else former.lag, at_ms)
        status = judge(subject, facts, found.lag, reason=reason, at_ms=at_ms, t=self.thresholds)
        point = _put_together(subject, place, reason, found, status)
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

    def _open(self, subject: Subject, point: Point, seq: int, at_ms: int) -> None:
        subject.point = point
        subject.row_seq, subject.row_ms = seq, at_ms

    def end(self, subject: Subject, seq: int, at_ms: int, word: str) -> None:
        """End the open row."""
        self.ended.append(rows.tell_ended(self.cluster, subject, seq, at_ms, word))


def _begin(subject: Subject, at_ms: int) -> Facts:
    """What is known of a subject that begins."""
    is_live, commit = subject.is_live, subject.commit
    facts = Facts(
        progress_ms=at_ms,
        rising_ms=at_ms,
        unowned_ms=at_ms if subject.is_unowned else None,
        left_ms=None if is_live else at_ms,
        is_peopled=is_live,
    )
    if commit is not None and commit.offset is not None and commit.offset >= 0:
        facts.offset = commit.offset
        facts.progress_ms = at_ms if commit.at_ms is None else min(commit.at_ms, at_ms)
    return facts


def _take_over(subject: Subject, facts: Facts, place: Place) -> None:
    """The commit that counts now; what was known of another topic of that name does not."""
    remember(subject, facts)
    forget_other(facts, place.topic_incarnation)
    former = subject.point
    if former is not None and former.incarnation != place.topic_incarnation:
        facts.lag_since_ms = facts.rewound_from = facts.rewound_ms = None


def _put_together(
    subject: Subject, place: Place, reason: str | None, found: Measure, status: Status
) -> Point:
    """A point that does not move yet."""
    commit, seconds = subject.commit, found.seconds
    start, end = (place.start, place.end) if place.is_open else (None, None)
    other, divergence = (None, None) if subject.twin is None else reckoning.find_others(subject)
    # Not by name: that takes ten times as long, and it is done for each subject at each round.
    return Point(
        place.topic_incarnation,
        subject.owner,
        subject.owner_member_id,
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
    point.velocity, point.loss_at = reckoning.find_motion(
        facts.reference, point.lag, committed, start, at_ms=at_ms, former=known
    )
    if point.lag and point.velocity is not None and point.velocity < 0:
        point.catch_up_seconds = point.lag / -point.velocity
