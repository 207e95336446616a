"""The log_ends table: what the brokers said of each partition, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.reference.fold.keys import MAX_INT
from tests.reference.fold.log_curve import draw_curve
from tests.reference.fold.presence import Moment
from tests.reference.fold.states import OPEN
from tests.reference.fold.things import Topic
from zklake.events.envelope import Event
from zklake.events.samples import LogEnd, Round

Row = dict[str, Any]
Partition = tuple[str, int]


def open_row(event: Event, **columns: Any) -> Row:
    """A row that begins at a round."""
    validity = {name: value for name, value in OPEN.items() if name != "closed_on"}
    return {
        "cluster": event.cluster,
        **columns,
        "seen_seq": event.seq,
        "valid_from_seq": event.seq,
        "valid_from_zxid": None,
        "valid_from_at": event.observed_at_ms,
        **validity,
    }


def end_row(row: Row, event: Event, ended_by: str) -> None:
    """A row that ends at a round."""
    row["valid_to_seq"] = event.seq
    row["valid_to_at"] = event.observed_at_ms
    row["is_open"] = False
    row["ended_by"] = ended_by


def is_same_time(row: Row, event: Event, length_s: float = 60) -> bool:
    """Whether the event falls into the same stretch of so many seconds as the row's beginning."""
    length_ms = length_s * 1000
    return bool(row["valid_from_at"] // length_ms == event.observed_at_ms // length_ms)


class LogEnds:
    """All rows of one cluster. `moments` up to this round; `entries` of all its records."""

    def __init__(self, most_points: int = 5000) -> None:
        self.rows: list[Row] = []
        self.most_points = most_points
        self.last_round = -1
        # The latest question of all rounds so far: ends of topics before it are not remembered.
        self.asked_seq = -1
        # Told since everything was to be told anew.
        self.told: set[Partition] = set()

    def find(self, partition: Partition) -> Row | None:
        """The row that stands."""
        for row in self.rows:
            if row["is_open"] and (row["topic"], row["partition"]) == partition:
                return row
        return None

    def take(self, moments: list[Moment], entries: list[LogEnd], ended: Round) -> set[Partition]:
        """A round; the partitions that it told, or vouches for."""
        event, topics = moments[-1].event, moments[-1].topics
        self._end_topics(moments)
        asked_seq = max(self.asked_seq, ended.after_seq)
        believed = [
            entry
            for entry in filter(None, map(_tame, entries))
            if not _is_of_another(moments, entry.topic, asked_seq)
        ]
        is_many = len({*self._find_moved(believed)}) > self.most_points
        told = set()
        for entry in believed:
            told.add((entry.topic, entry.partition))
            self._take_entry(event, entry, topics.get(entry.topic), is_many)
        self.told = told if ended.is_base else self.told | told
        failed = [failure.broker_id for failure in ended.brokers_failed]
        vouched = set()
        for row in [row for row in self.rows if row["is_open"]]:
            partition = (row["topic"], row["partition"])
            if partition in told:
                if row["error"] is None:
                    vouched.add(partition)
            elif ended.is_base and row["broker_id"] not in failed:
                end_row(row, event, "resync")
            elif row["broker_id"] not in ended.brokers_answered:
                continue
            elif partition not in self.told:
                # Its broker tells all when it first answers after a base, and did not tell this.
                end_row(row, event, "resync")
            elif row["error"] is None:
                vouched.add(partition)
                _confirm(row, event)
        self.last_round = event.seq
        self.asked_seq = max(self.asked_seq, ended.after_seq)
        return vouched

    def _end_topics(self, moments: list[Moment]) -> None:
        now = moments[-1]
        since = [moment for moment in moments if moment.event.seq > self.last_round]
        gone = {
            move.key
            for moment in since
            for move in moment.moves
            if move.what == "topic" and move.after is None
        }
        for row in [row for row in self.rows if row["is_open"]]:
            topic, was = now.topics.get(row["topic"]), row["incarnation"]
            if topic is not None and None not in (was, topic.czxid) and was != topic.czxid:
                end_row(row, now.event, "recreated")
            elif topic is None and (was is not None or row["topic"] in gone):
                end_row(row, now.event, "deleted")

    def _find_moved(self, entries: list[LogEnd]) -> Iterator[Partition]:
        """Partitions of which something else is told than stands."""
        for entry in entries:
            row = self.find((entry.topic, entry.partition))
            if row is None or entry.error == "UNKNOWN_TOPIC_OR_PART":
                continue
            if not _is_as_told(row, _read(entry)):
                yield entry.topic, entry.partition

    def _take_entry(self, event: Event, entry: LogEnd, topic: Topic | None, is_many: bool) -> None:
        row = self.find((entry.topic, entry.partition))
        if entry.error == "UNKNOWN_TOPIC_OR_PART":
            if row is not None:
                end_row(row, event, "deleted")
            return
        at = event.observed_at_ms
        said = _read(entry)
        incarnation = topic.czxid if topic else None
        if row is not None and _is_as_told(row, said):
            _confirm(row, event)
        elif row is not None and is_many and _is_same_point(row, said, incarnation, event):
            if row["log_end_offset_last"] != entry.log_end_offset:
                row["sampled_at_last"] = at
            row["log_start_offset_last"] = entry.log_start_offset
            row["log_end_offset_last"] = entry.log_end_offset
            _confirm(row, event)
        else:
            if row is not None:
                end_row(row, event, "changed")
            named = {"topic": entry.topic, "partition": entry.partition, "incarnation": incarnation}
            first_ms = self._find_first({**named, **said}, at)
            times = {"sampled_at": first_ms, "confirmed_at": at}
            offsets = {name: said[name] for name in ("log_start_offset", "log_end_offset")}
            last = {f"{name}_last": value for name, value in (offsets | times).items()}
            self.rows.append(open_row(event, **named, **said, **times, **last))

    def _find_first(self, new: Row, at: int) -> int:
        """When this end was first told: it may stand since before."""
        curve = draw_curve(self.rows, new, at)
        if not curve or curve[-1].incarnation != new["incarnation"]:
            return at
        return curve[-1].first_ms if curve[-1].end == new["log_end_offset"] else at


def _tame(entry: LogEnd) -> LogEnd | None:
    """Numbers that a column can hold, or the word for it."""
    if not 0 <= entry.partition <= MAX_INT:
        return None
    offsets = (entry.log_start_offset, entry.log_end_offset)
    is_broker = entry.broker_id is None or -MAX_INT <= entry.broker_id <= MAX_INT
    are_known = all(offset is not None and 0 <= offset < 2**63 for offset in offsets)
    if entry.error is None and is_broker and are_known:
        return entry
    broker = entry.broker_id if is_broker else None
    return LogEnd(entry.topic, entry.partition, broker, error=entry.error or "OUT_OF_RANGE")


def _is_of_another(moments: list[Moment], topic: str, after_seq: int) -> bool:
    """A former topic of that name still stood when the brokers were asked, or came later."""
    gone = [
        move.before.czxid
        for moment in moments
        for move in moment.moves
        if move.what == "topic" and move.key == topic and move.is_going
        if moment.event.seq > after_seq
    ]
    now = moments[-1].topics.get(topic)
    if not gone or now is None or None in (gone[-1], now.czxid):
        return False
    return bool(gone[-1] != now.czxid)


def _read(entry: LogEnd) -> Row:
    names = ("broker_id", "log_start_offset", "log_end_offset", "error")
    return {name: getattr(entry, name) for name in names}


def _is_as_told(row: Row, said: Row) -> bool:
    """Nothing else is said than was said last."""
    known = {
        "broker_id": row["broker_id"],
        "log_start_offset": row["log_start_offset_last"],
        "log_end_offset": row["log_end_offset_last"],
        "error": row["error"],
    }
    return known == said


def _confirm(row: Row, event: Event) -> None:
    """What was said last holds at this round, and with it what the row began with, or not."""
    row.update(confirmed_at_last=event.observed_at_ms, seen_seq=event.seq)
    if row["log_end_offset"] == row["log_end_offset_last"]:
        row["confirmed_at"] = event.observed_at_ms


def _is_same_point(row: Row, said: Row, incarnation: int | None, event: Event) -> bool:
    names = ("error", "broker_id")
    is_same = all(row[name] == said[name] for name in names) and row["incarnation"] == incarnation
    ends = (row["log_end_offset_last"], said["log_end_offset"])
    is_back = None not in ends and ends[1] < ends[0]
    return is_same and is_same_time(row, event) and not is_back
