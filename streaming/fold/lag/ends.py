"""log_ends: rows of where logs start and end, from sampling rounds. Rows change only at rounds.

A closed row is the last value seen in its minute: one point of a series. The first end of all is a
point of its own, so that time is known as soon as a second one is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.place import Place, Places
from streaming.fold.row import Row, close_row, open_row
from streaming.fold.standing import Standing
from zklake.events.payloads.reading import LARGEST_INT
from zklake.events.samples import LogEnd, Round

_GONE = "UNKNOWN_TOPIC_OR_PART"
_OUT_OF_RANGE = "OUT_OF_RANGE"
_LONG = 2**63
MINUTE_MS = 60_000


@dataclass
class Ends:
    """The partitions of one cluster, and rows that have ended."""

    cluster: str
    places: Places
    ended: list[Row] = field(default_factory=list)
    # The last base round.
    base_seq: int = -1
    _hour_ms: int = 0

    def take_topics(
        self, standing: Standing, was_deleted: Callable[[str], bool], seq: int, at_ms: int
    ) -> None:
        """End rows of topics that are gone, or others by now."""
        for topic, places in self.places.by_topic.items():
            state = standing.topics.get(topic)
            incarnation = None if state is None else state.incarnation
            for place in places.values():
                if (place.has_topic, place.topic_incarnation) != (state is not None, incarnation):
                    place.has_topic, place.topic_incarnation = state is not None, incarnation
                    place.version += 1
                if not place.is_open:
                    continue
                if state is None and (place.incarnation is not None or was_deleted(topic)):
                    self._end(place, seq, at_ms, "deleted")
                elif None not in (place.incarnation, incarnation) and (
                    place.incarnation != incarnation
                ):
                    self._end(place, seq, at_ms, "recreated")

    def take_entries(
        self,
        entries: Iterable[LogEnd],
        is_doubtful: Callable[[str], bool],
        standing: Standing,
        seq: int,
        at_ms: int,
    ) -> None:
        """What brokers said; of a topic re-created since they were asked it says nothing."""
        for entry in entries:
            if 0 <= entry.partition <= LARGEST_INT and not is_doubtful(entry.topic):
                self._take(_tame(entry), standing, seq, at_ms)

    def _take(self, entry: LogEnd, standing: Standing, seq: int, at_ms: int) -> None:
        place = self.places.get(entry.topic, entry.partition)
        place.told_seq = seq
        if entry.error == _GONE:
            if place.is_open:
                self._end(place, seq, at_ms, "deleted")
            return
        topic = standing.topics.get(entry.topic)
        incarnation = None if topic is None else topic.incarnation
        place.has_topic, place.topic_incarnation = topic is not None, incarnation
        if entry.error is None:
            place.vouched_seq = seq
        told = (entry.broker_id, entry.log_start_offset, entry.log_end_offset, entry.error)
        if not place.is_open:
            self._open(place, entry, incarnation, seq, at_ms)
        elif told == (place.broker_id, place.start, place.end, place.error):
            place.confirmed_ms, place.seen_seq = at_ms, seq
        elif _is_same_point(place, entry, incarnation, at_ms) and _has_past(place, entry, at_ms):
            if entry.log_end_offset != place.end:
                place.sampled_ms = at_ms
            place.start, place.end = entry.log_start_offset, entry.log_end_offset
            place.confirmed_ms, place.seen_seq = at_ms, seq
            place.version += 1
        else:
            self._end(place, seq, at_ms, "changed")
            self._open(place, entry, incarnation, seq, at_ms)

    def confirm(self, ended: Round, seq: int, at_ms: int) -> None:
        """What was not told still holds if its broker answered; from before a base nothing does.

        Of a broker that fails in a base nothing is concluded before it answers: it tells all then.
        """
        answered = frozenset(ended.brokers_answered)
        failed = frozenset(each.broker_id for each in ended.brokers_failed)
        self.base_seq = seq if ended.is_base else self.base_seq
        for place in self.places:
            if not place.is_open or place.told_seq == seq:
                continue
            has_answered = place.broker_id in answered
            if place.seen_seq < self.base_seq:
                if has_answered or (ended.is_base and place.broker_id not in failed):
                    self._end(place, seq, at_ms, "resync")
            elif place.error is None and has_answered:
                place.confirmed_ms, place.seen_seq = at_ms, seq
                place.vouched_seq = seq
        hour_ms = at_ms - at_ms % HOUR_MS
        if hour_ms != self._hour_ms:
            self._hour_ms = hour_ms
            for place in self.places:
                place.curve.thin(hour_ms)
            self.places.forget_empty()

    def _open(
        self, place: Place, entry: LogEnd, incarnation: int | None, seq: int, at_ms: int
    ) -> None:
        place.is_open, place.incarnation = True, incarnation
        place.broker_id, place.error = entry.broker_id, entry.error
        place.start, place.end = entry.log_start_offset, entry.log_end_offset
        place.confirmed_ms, place.from_seq, place.from_ms = at_ms, seq, at_ms
        place.seen_seq = seq
        place.sampled_ms = at_ms
        if place.end is not None:
            place.curve.thin(at_ms - at_ms % HOUR_MS)
            place.sampled_ms = place.curve.find_first(incarnation, place.end, at_ms)
        place.version += 1

    def _end(self, place: Place, seq: int, at_ms: int, word: str) -> None:
        row = self.tell(place)
        close_row(row, seq, None, at_ms, ended_by=word)
        self.ended.append(row)
        if place.end is not None:
            place.curve.add(place.incarnation, place.end, place.sampled_ms, place.confirmed_ms)
        place.is_open = False
        place.version += 1

    def tell(self, place: Place) -> Row:
        """The open row of a partition."""
        row = open_row(
            self.cluster,
            place.from_seq,
            None,
            place.from_ms,
            topic=place.topic,
            partition=place.partition,
            incarnation=place.incarnation,
            broker_id=place.broker_id,
            log_start_offset=place.start,
            log_end_offset=place.end,
            error=place.error,
            sampled_at=place.sampled_ms,
            confirmed_at=place.confirmed_ms,
        )
        row["seen_seq"] = place.seen_seq
        return row

    def recall_curve(self, row: Row) -> None:
        """Take up a row that has ended; they come in the order of valid_from_seq."""
        if row["log_end_offset"] is not None:
            self.places.get(row["topic"], row["partition"]).curve.add(
                row["incarnation"], row["log_end_offset"], row["sampled_at"], row["confirmed_at"]
            )

    def recall(self, row: Row) -> None:
        """Take up an open row, after those that have ended."""
        place = self.places.get(row["topic"], row["partition"])
        place.is_open, place.incarnation = True, row["incarnation"]
        place.broker_id, place.error = row["broker_id"], row["error"]
        place.start, place.end = row["log_start_offset"], row["log_end_offset"]
        place.sampled_ms, place.confirmed_ms = row["sampled_at"], row["confirmed_at"]
        place.from_seq, place.from_ms = row["valid_from_seq"], row["valid_from_at"]
        place.seen_seq = row["seen_seq"]


def _is_same_point(place: Place, entry: LogEnd, incarnation: int | None, at_ms: int) -> bool:
    """Still the same minute, and nothing but the offsets has moved, and forward."""
    if entry.error != place.error or entry.broker_id != place.broker_id:
        return False
    if incarnation != place.incarnation or (entry.log_end_offset or 0) < (place.end or 0):
        return False
    return place.from_ms is not None and at_ms // MINUTE_MS == place.from_ms // MINUTE_MS


def _has_past(place: Place, entry: LogEnd, at_ms: int) -> bool:
    """Whether the curve can do without this end; the first of all is what the next is placed by."""
    if place.end is None or entry.log_end_offset == place.end:
        return True
    place.curve.thin(at_ms - at_ms % HOUR_MS)
    return place.curve.goes_on(place.incarnation, place.end)


def _tame(entry: LogEnd) -> LogEnd:
    """What fits the table: wild numbers are an error, and so is a missing one."""
    broker_id = entry.broker_id
    is_wild = broker_id is not None and not -LARGEST_INT - 1 <= broker_id <= LARGEST_INT
    if entry.error is not None and not is_wild:
        return LogEnd(entry.topic, entry.partition, broker_id, error=entry.error)
    start, end = entry.log_start_offset, entry.log_end_offset
    if is_wild or start is None or end is None or not (0 <= start < _LONG and 0 <= end < _LONG):
        wild = None if is_wild else broker_id
        return LogEnd(entry.topic, entry.partition, wild, error=entry.error or _OUT_OF_RANGE)
    return entry
