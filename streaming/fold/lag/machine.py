"""The lag machine: follows samples, commits, owners and topics; its rows change only at rounds.

Pure. What it must remember beyond its rows is named in streaming/fold/lag/recalling.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streaming.fold.changes import Change
from streaming.fold.context import Context
from streaming.fold.lag import commits, rows
from streaming.fold.lag.ends import Ends
from streaming.fold.lag.evaluation import Evaluation
from streaming.fold.lag.news import News
from streaming.fold.lag.place import Place, Places
from streaming.fold.lag.recalling import Recollection, recall_all
from streaming.fold.lag.status import Thresholds
from streaming.fold.lag.subject import Subject
from streaming.fold.lag.subjects import Subjects
from streaming.fold.machine import Taken
from streaming.fold.row import Row
from streaming.fold.standing import Standing
from zklake.events.envelope import Event
from zklake.events.samples import LogEnd, Round


class LagMachine:
    """log_ends and offset_lag of one cluster."""

    # offset_lag first: after a crash between the two it may be ahead, never behind.
    tables: tuple[str, ...] = ("offset_lag", "log_ends")

    def __init__(self, cluster: str, thresholds: Thresholds | None = None) -> None:
        places = Places()
        self._ends = Ends(cluster, places)
        self._subjects = Subjects(places)
        self._lags = Evaluation(cluster, thresholds or Thresholds())
        self._news = News(self._subjects)
        # Entries of a round that has not ended.
        self._entries: list[LogEnd] = []
        self._seq = self._taken_seq = self._round_seq = self._lag_seq = -1
        self._has_news = False

    @classmethod
    def recall(
        cls,
        cluster: str,
        thresholds: Thresholds | None,
        standing: Standing,
        known: Recollection,
    ) -> LagMachine:
        """The machine that has followed everything up to `known.seq`; so has the standing."""
        machine = cls(cluster, thresholds)
        machine._seq = machine._taken_seq = known.seq
        machine._lag_seq = known.lag_seq
        machine._news.after_seq = known.after_seq
        machine._round_seq = -1 if known.round_seq is None else known.round_seq
        machine._news.topics = recall_all(known, standing, machine._ends, machine._subjects)
        return machine

    def follow(
        self,
        event: Event,
        changes: Sequence[Change],
        standing: Standing,
        context: Context,
    ) -> None:
        """Take one event, after the standing has."""
        self._seq = event.seq
        self._news.take_changes(changes, event, standing)
        self._news.take_commits(event, standing, context)
        if event.log_ends is not None:
            self._entries += event.log_ends.partitions
            if event.log_ends.round is not None:
                self._end_round(event.log_ends.round, event.seq, event.observed_at_ms, standing)

    def pass_time(self, seq: int, at_ms: int) -> None:
        """An event came that changes nothing here."""
        self._seq = seq

    def _end_round(self, ended: Round, seq: int, at_ms: int, standing: Standing) -> None:
        self._news.take_round(ended, seq)
        self._take_ends(ended, seq, at_ms, standing)
        is_news = seq > self._lag_seq
        if is_news:
            self._subjects.apply_marks()
        else:
            self._subjects.drop_marks()
        self._news.count_commits(at_ms, with_facts=is_news)
        if is_news:
            self._evaluate(ended.after_seq, seq, at_ms, standing)
        self._news.topics.forget(self._news.after_seq or 0)
        self._round_seq, self._has_news = seq, True

    def _take_ends(self, ended: Round, seq: int, at_ms: int, standing: Standing) -> None:
        topics, last_seq = self._news.topics, self._round_seq
        self._ends.take_topics(standing, lambda t: topics.went_since(t, last_seq), seq, at_ms)

        def is_doubtful(topic: str) -> bool:
            return topics.is_other_since(topic, ended.after_seq, standing)

        self._ends.take_entries(self._entries, is_doubtful, standing, seq, at_ms)
        self._entries = []
        self._ends.confirm(ended, seq, at_ms)

    def _evaluate(self, after_seq: int, seq: int, at_ms: int, standing: Standing) -> None:
        is_blind, gone = standing.is_blind, []
        for place in self._ends.places:
            if not place.subjects:
                continue
            is_known = place.is_open and place.error is None
            is_vouched = is_known and place.vouched_seq == seq
            for subject in place.subjects:
                if is_blind and subject.group.key.coordinator == "zookeeper":
                    continue
                if not subject.is_there:
                    gone.append(subject)
                elif is_known != is_vouched or _must_wait(subject, after_seq, is_vouched):
                    continue
                else:
                    self._lags.pass_over(subject, place, seq, at_ms, is_vouched=is_vouched)
        for subject in gone:
            if subject.point is not None:
                self._lags.end(subject, seq, at_ms, subject.gone_by)
                subject.forget_row()
            # Its commit still counts until a round was asked for after its end.
            if subject.commit is None and not subject.waiting:
                self._subjects.remove(subject)

    def take(self, *, idle: bool = False) -> dict[str, Taken]:
        """What the tables must hold as of the last round; `idle`: as of the last event."""
        if not self._has_news:
            if not idle or self._entries or self._seq <= self._taken_seq:
                return {}
            self._subjects.apply_marks()
            for subject in self._subjects:
                if subject.facts is not None:
                    commits.remember(subject, subject.facts)
        seq = self._round_seq if self._has_news else self._seq
        self._has_news, self._taken_seq = False, seq
        taken = {}
        if seq > self._lag_seq:
            taken["offset_lag"] = Taken(list(self._tell_lags()), self._lags.ended, seq)
            self._lags.ended = []
        taken["log_ends"] = Taken(list(self._tell_ends()), self._ends.ended, seq)
        self._ends.ended = []
        return taken

    def _tell_lags(self) -> Iterator[Row]:
        cluster = self._lags.cluster
        return (rows.tell_open(cluster, each) for each in self._subjects if each.point is not None)

    def _tell_ends(self) -> Iterator[Row]:
        places: Iterator[Place] = iter(self._ends.places)
        return (self._ends.tell(place) for place in places if place.is_open)


def _must_wait(subject: Subject, after_seq: int, is_vouched: bool) -> bool:
    """Its commit is newer than the log end, or only waits and makes no row yet."""
    if subject.commit is None:
        return subject.point is None and not subject.has_owner
    return is_vouched and subject.commit.seq > after_seq
