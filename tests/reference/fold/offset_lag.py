"""The offset_lag table: how far each group is behind on each partition, round by round."""

from __future__ import annotations

from dataclasses import dataclass
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
    log_ends = LogEnds()
    lags = OffsetLag(log_ends, limits or Limits())
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
    """One subject from its first row to its last."""

    facts: Facts
    row: Row
    # The row before this one, if this one followed on it.
    reference: Row | None = None


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
        for subject in sorted({*self.lives, *standing}):
            if now.is_blind and subject.coordinator == "zookeeper":
                continue
            if subject not in standing:
                self._end(subject, moments)
            elif self._is_due(subject, now, vouched, ended.after_seq):
                self._evaluate(subject, moments)

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
        end_row(self.lives.pop(subject).row, moments[-1].event, word)

    def _evaluate(self, subject: Subject, moments: list[Moment]) -> None:
        event = moments[-1].event
        life, commit = self.lives.get(subject), self.commits.current.get(subject)
        facts = life.facts if life else Facts(subject, commit, event.seq, event.observed_at_ms)
        facts.forget_former(moments)
        columns = self._measure(subject, moments, life)
        former = life.row if life else {**columns, "status": None, "status_since": None}
        is_same_topic = former["incarnation"] == columns["incarnation"]
        if not is_same_topic:
            facts.begin_topic()
        facts.count_lag(columns["lag"], event.observed_at_ms)
        columns |= judge(facts, columns, former, moments, self.limits)
        self._write(subject, life, facts, columns, event)

    def _write(
        self, subject: Subject, life: Life | None, facts: Facts, columns: Row, event: Event
    ) -> None:
        row = life.row if life else None
        if row is not None:
            is_point = all(row[name] == columns[name] for name in _POINT)
            is_equal = all(
                row[name] == value for name, value in columns.items() if name != "sampled_at"
            )
            if is_equal or (is_point and is_same_time(row, event, self.limits.point_s)):
                row.update(columns, seen_seq=event.seq)
                return
            end_row(row, event, "changed")
            # The point that now is over is what the new one is measured against.
            columns |= reckon(columns, row, row, event.observed_at_ms)
        new = open_row(event, **subject._asdict(), **columns)
        self.rows.append(new)
        self.lives[subject] = Life(facts, new, row)

    def _measure(self, subject: Subject, moments: list[Moment], life: Life | None) -> Row:
        now, commit = moments[-1], self.commits.current.get(subject)
        ends = self.log_ends.find((subject.topic, subject.partition))
        owner, topic = now.owners.get(subject), now.topics.get(subject.topic)
        sampled_at = life.row["sampled_at"] if life else None
        if ends is not None and ends["error"] is None:
            sampled_at = ends["confirmed_at"]
        columns: Row = {
            "incarnation": topic.czxid if topic else None,
            "owner": owner.owner if owner else None,
            "owner_member_id": owner.member_id if owner else None,
            "committed_offset": commit.offset if commit else None,
            "committed_at": commit.at if commit else None,
            "log_start_offset": ends["log_start_offset"] if ends else None,
            "log_end_offset": ends["log_end_offset"] if ends else None,
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
        reference, row = (life.reference, life.row) if life else (None, None)
        return columns | reckon(columns, reference, row, at)


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
