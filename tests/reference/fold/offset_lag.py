"""The offset_lag table: how far each group is behind on each partition, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.reference.fold.lag_commits import Commits
from tests.reference.fold.lag_facts import Facts, is_of_another
from tests.reference.fold.lag_status import Limits, judge
from tests.reference.fold.lag_time import measure, reckon
from tests.reference.fold.log_curve import draw_curve
from tests.reference.fold.log_ends import (
    LogEnds,
    Row,
    end_row,
    is_same_time,
    open_row,
)
from tests.reference.fold.presence import Moment
from tests.reference.fold.things import Commit, Subject
from zklake.events.envelope import Event
from zklake.events.samples import LogEnd, Round

_POINT = ("status", "owner", "incarnation", "reason")


def fold_lag(moments: list[Moment], limits: Limits | None = None) -> dict[str, list[Row]]:
    """log_ends and offset_lag of one cluster."""
    limits = limits or Limits()
    log_ends = LogEnds(limits.points_per_round)
    lags = OffsetLag(log_ends, limits)
    entries: list[LogEnd] = []
    for number, event in enumerate(moment.event for moment in moments):
        if event.op != "log_ends" or event.log_ends is None:
            continue
        entries += event.log_ends.partitions
        if event.log_ends.round is not None:
            past = moments[: number + 1]
            vouched = log_ends.take(past, entries, event.log_ends.round)
            lags.take(past, vouched, event.log_ends.round)
            entries = []
    return {"log_ends": log_ends.rows, "offset_lag": lags.rows}


@dataclass
class Life:
    """One subject from its first row to its last. `now`: the columns that the last round gave."""

    facts: Facts
    row: Row
    now: Row
    # What held at the end of the minute before, or of the status before.
    reference: Row | None = None
    # Of the open row: (since when, columns), for every point in it.
    points: list[tuple[int, Row]] = field(default_factory=list)


class OffsetLag:
    """All rows of one cluster."""

    def __init__(self, log_ends: LogEnds, limits: Limits) -> None:
        self.log_ends = log_ends
        self.limits = limits
        self.rows: list[Row] = []
        self.lives: dict[Subject, Life] = {}
        self.commits = Commits()

    def take(self, moments: list[Moment], vouched: set[tuple[str, int]], ended: Round) -> None:
        """A round: those it says something of are evaluated."""
        now = moments[-1]
        for subject, commit in self.commits.take(moments, ended.after_seq):
            if subject in self.lives and commit is not None:
                self.lives[subject].facts.count_commit(commit, moments)
        standing = {*now.commits, *now.owners}
        measured: dict[Subject, Row] = {}
        for subject in sorted({*self.lives, *standing}):
            if now.is_blind and subject.coordinator == "zookeeper":
                continue
            if subject not in standing:
                self._end(subject, moments)
            elif self._is_due(subject, now, vouched, ended.after_seq):
                self._evaluate(subject, moments, measured)
        moved = [
            subject for subject, columns in measured.items() if self._has_moved(subject, columns)
        ]
        is_many = len(moved) > self.limits.points_per_round
        for subject, columns in measured.items():
            self._write(subject, columns, now.event, subject in moved, is_many)

    def _has_moved(self, subject: Subject, columns: Row) -> bool:
        then = self.lives[subject].now
        return any(then[name] != value for name, value in columns.items() if name != "sampled_at")

    def _is_due(
        self, subject: Subject, now: Moment, vouched: set[tuple[str, int]], after_seq: int
    ) -> bool:
        partition = (subject.topic, subject.partition)
        ends = self.log_ends.find(partition)
        commit = self.commits.current.get(subject)
        if subject not in self.lives and commit is None and subject not in now.owners:
            return False
        if ends is None or ends["error"] is not None:
            return True
        # A late answer to an old question says nothing of a commit that came after it.
        return partition in vouched and (commit is None or commit.seq <= after_seq)

    def _end(self, subject: Subject, moments: list[Moment]) -> None:
        """Neither commit nor owner is there; the last of them to go says how."""
        causes = [
            move.cause
            for moment in moments
            for move in moment.moves
            if move.what in ("commit", "owner") and move.key == subject and move.after is None
        ]
        word = "resync" if causes[-1] == "resync" else "deleted"
        _end_life_row(self.lives.pop(subject), moments[-1].event, word)

    def _evaluate(
        self, subject: Subject, moments: list[Moment], measured: dict[Subject, Row]
    ) -> None:
        """A first row at once; what others come to be is decided when all of them are known."""
        event = moments[-1].event
        life, commit = self.lives.get(subject), self.commits.current.get(subject)
        facts = life.facts if life else Facts(subject, commit, event.seq, event.observed_at_ms)
        facts.forget_former(moments)
        columns = self._measure(subject, moments, life)
        former = life.now if life else {**columns, "status": None, "status_since": None}
        is_same_topic = former["incarnation"] == columns["incarnation"]
        if not is_same_topic:
            facts.begin_topic()
        facts.count_lag(columns["lag"], event.observed_at_ms)
        columns |= judge(facts, columns, former, moments, self.limits)
        if life is None:
            self.lives[subject] = self._open(subject, facts, columns, event, None)
        else:
            measured[subject] = columns

    def _write(
        self, subject: Subject, columns: Row, event: Event, has_moved: bool, is_many: bool
    ) -> None:
        life = self.lives[subject]
        row, then = life.row, life.now
        is_alike = all(then[name] == columns[name] for name in _POINT)
        is_alike &= (then["lag_seconds"] is None) == (columns["lag_seconds"] is None)
        is_near = is_alike and is_same_time(row, event, self.limits.point_s)
        if has_moved and not is_near:
            # The minute that now is over is what the new one is measured against.
            life.reference = then
            columns |= reckon(columns, then, then, event.observed_at_ms)
        if not has_moved or (is_many and is_near):
            row.update(sampled_at=columns["sampled_at"], seen_seq=event.seq)
            life.now = columns
            if has_moved:
                life.points.append((event.observed_at_ms, columns))
            row.update(_sum_up([point for _, point in life.points]))
            return
        _end_life_row(life, event, "changed")
        self.lives[subject] = self._open(subject, life.facts, columns, event, life.reference)

    def _open(
        self, subject: Subject, facts: Facts, columns: Row, event: Event, reference: Row | None
    ) -> Life:
        new = open_row(event, **subject._asdict(), **columns, **_sum_up([columns]), lag_mean=None)
        self.rows.append(new)
        return Life(facts, new, columns, reference, [(event.observed_at_ms, columns)])

    def _measure(self, subject: Subject, moments: list[Moment], life: Life | None) -> Row:
        now, commit = moments[-1], self.commits.current.get(subject)
        ends = self.log_ends.find((subject.topic, subject.partition))
        owner, topic = now.owners.get(subject), now.topics.get(subject.topic)
        sampled_at = life.now["sampled_at"] if life else None
        if ends is not None and ends["error"] is None:
            sampled_at = ends["confirmed_at_last"]
        end = ends["log_end_offset_last"] if ends else None
        columns: Row = {
            "incarnation": topic.czxid if topic else None,
            "owner": owner.owner if owner else None,
            "owner_member_id": owner.member_id if owner else None,
            "committed_offset": commit.offset if commit else None,
            "committed_at": commit.at if commit else None,
            "log_start_offset": ends["log_start_offset_last"] if ends else None,
            "log_end_offset": end,
            "sampled_at": sampled_at,
            "reason": _find_reason(subject, moments, commit, ends),
            "raw_lag": None,
            "lag": None,
            **_compare(subject, self.commits.current),
        }
        if columns["reason"] is None:
            columns["raw_lag"] = columns["log_end_offset"] - columns["committed_offset"]
            columns["lag"] = max(0, columns["raw_lag"])
        at = now.event.observed_at_ms
        curve = draw_curve(self.log_ends.rows, ends, at) if ends else []
        columns |= measure(columns["lag"], columns["committed_offset"], curve)
        reference, then = (life.reference, life.now) if life else (None, None)
        return columns | reckon(columns, reference, then, at)


def _sum_up(points: list[Row]) -> Row:
    """What a row says of all the points in it."""
    lags = [point["lag"] for point in points if point["lag"] is not None]
    seconds = [point["lag_seconds"] for point in points if point["lag_seconds"] is not None]
    last = points[-1]
    newest = ("lag", "lag_seconds", "committed_offset", "committed_at", "log_end_offset")
    return {
        "lag_min": min(lags, default=None),
        "lag_max": max(lags, default=None),
        "lag_seconds_min": min(seconds, default=None),
        "lag_seconds_max": max(seconds, default=None),
        **{f"{name}_last": last[name] for name in (*newest, "velocity")},
        "points": len(points),
    }


def _end_life_row(life: Life, event: Event, word: str) -> None:
    """End a row; only now is known for how long each point of it held."""
    end_row(life.row, event, word)
    if life.now["lag"] is None:
        return
    began, ended = life.row["valid_from_at"], event.observed_at_ms
    untils = [since for since, _ in life.points[1:]] + [ended]
    held = [
        point["lag"] * (until - since)
        for (since, point), until in zip(life.points, untils, strict=True)
    ]
    life.row["lag_mean"] = sum(held) / (ended - began) if ended > began else life.now["lag"]


def _compare(subject: Subject, commits: dict[Subject, Commit]) -> Row:
    """Groups that commit to both: how far the two are apart."""
    offsets: dict[str, Any] = {}
    for coordinator in ("kafka", "zookeeper"):
        commit = commits.get(subject._replace(coordinator=coordinator))
        offsets[coordinator] = commit.offset if commit else None
    other = "kafka" if subject.coordinator == "zookeeper" else "zookeeper"
    is_both = all(offset is not None and offset >= 0 for offset in offsets.values())
    divergence = offsets["kafka"] - offsets["zookeeper"] if is_both else None
    return {"other_offset": offsets[other], "divergence": divergence}


def _find_reason(
    subject: Subject, moments: list[Moment], commit: Commit | None, ends: Row | None
) -> str | None:
    """Why the lag is not known."""
    if commit is None:
        return "no_commit"
    if commit.offset is None or commit.offset < 0:
        return "no_offset"
    if subject.topic not in moments[-1].topics and ends is None:
        return "topic_gone"
    if is_of_another(subject, commit, moments):
        return "other_incarnation"
    if ends is None:
        return "no_log_end"
    error: str | None = ends["error"]
    return error
