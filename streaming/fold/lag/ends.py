"""log_ends: rows of where logs start and end, from sampling rounds. Rows change only at rounds.

A closed row is the last value seen in its minute: one point of a series. The first end of all is a
point of its own, so that time is known as soon as a second one is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from streaming.fold.cluster_state import ClusterState
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.partition import Partition, Partitions
from streaming.fold.row import Row, close_row, open_row
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
    partitions: Partitions
    ended: list[Row] = field(default_factory=list)
    # The last base round.
    base_seq: int = -1
    _hour_ms: int = 0

    def apply_topics(
        self, cluster_state: ClusterState, was_deleted: Callable[[str], bool], seq: int, at_ms: int
    ) -> None:
        """End rows of topics that are gone, or others by now."""
        for topic, partitions in self.partitions.by_topic.items():
            state = cluster_state.topics.get(topic)
            incarnation = None if state is None else state.incarnation
            for partition in partitions.values():
                if (partition.has_topic, partition.topic_incarnation) != (
                    state is not None,
                    incarnation,
                ):
                    partition.has_topic, partition.topic_incarnation = (
                        state is not None,
                        incarnation,
                    )
                    partition.version += 1
                if not partition.is_open:
                    continue
                if state is None and (partition.incarnation is not None or was_deleted(topic)):
                    self._end(partition, seq, at_ms, "deleted")
                elif None not in (partition.incarnation, incarnation) and (
                    partition.incarnation != incarnation
                ):
                    self._end(partition, seq, at_ms, "recreated")

    def apply_entries(
        self,
        entries: Iterable[LogEnd],
        is_doubtful: Callable[[str], bool],
        cluster_state: ClusterState,
        seq: int,
        at_ms: int,
    ) -> None:
        """What brokers said; of a topic re-created since they were asked it says nothing."""
        for entry in entries:
            if 0 <= entry.partition <= LARGEST_INT and not is_doubtful(entry.topic):
                self._take(_tame(entry), cluster_state, seq, at_ms)

    def _take(self, entry: LogEnd, cluster_state: ClusterState, seq: int, at_ms: int) -> None:
        partition = self.partitions.get(entry.topic, entry.partition)
        partition.told_seq = seq
        if entry.error == _GONE:
            if partition.is_open:
                self._end(partition, seq, at_ms, "deleted")
            return
        topic = cluster_state.topics.get(entry.topic)
        incarnation = None if topic is None else topic.incarnation
        partition.has_topic, partition.topic_incarnation = topic is not None, incarnation
        if entry.error is None:
            partition.vouched_seq = seq
        told = (entry.broker_id, entry.log_start_offset, entry.log_end_offset, entry.error)
        if not partition.is_open:
            self._open(partition, entry, incarnation, seq, at_ms)
        elif told == (partition.broker_id, partition.start, partition.end, partition.error):
            partition.confirmed_ms, partition.seen_seq = at_ms, seq
        elif _is_same_point(partition, entry, incarnation, at_ms) and _has_past(
            partition, entry, at_ms
        ):
            if entry.log_end_offset != partition.end:
                partition.sampled_ms = at_ms
            partition.start, partition.end = entry.log_start_offset, entry.log_end_offset
            partition.confirmed_ms, partition.seen_seq = at_ms, seq
            partition.version += 1
        else:
            self._end(partition, seq, at_ms, "changed")
            self._open(partition, entry, incarnation, seq, at_ms)

    def confirm(self, ended: Round, seq: int, at_ms: int) -> None:
        """What was not told still holds if its broker answered; from before a base nothing does.

        Of a broker that fails in a base nothing is concluded before it answers: it tells all then.
        """
        answered = frozenset(ended.brokers_answered)
        failed = frozenset(each.broker_id for each in ended.brokers_failed)
        self.base_seq = seq if ended.is_base else self.base_seq
        for partition in self.partitions:
            if not partition.is_open or partition.told_seq == seq:
                continue
            has_answered = partition.broker_id in answered
            if partition.seen_seq < self.base_seq:
                if has_answered or (ended.is_base and partition.broker_id not in failed):
                    self._end(partition, seq, at_ms, "resync")
            elif partition.error is None and has_answered:
                partition.confirmed_ms, partition.seen_seq = at_ms, seq
                partition.vouched_seq = seq
        hour_ms = at_ms - at_ms % HOUR_MS
        if hour_ms != self._hour_ms:
            self._hour_ms = hour_ms
            for partition in self.partitions:
                partition.curve.thin(hour_ms)
            self.partitions.forget_empty()

    def _open(
        self, partition: Partition, entry: LogEnd, incarnation: int | None, seq: int, at_ms: int
    ) -> None:
        partition.is_open, partition.incarnation = True, incarnation
        partition.broker_id, partition.error = entry.broker_id, entry.error
        partition.start, partition.end = entry.log_start_offset, entry.log_end_offset
        partition.confirmed_ms, partition.from_seq, partition.from_ms = at_ms, seq, at_ms
        partition.seen_seq = seq
        partition.sampled_ms = at_ms
        if partition.end is not None:
            partition.curve.thin(at_ms - at_ms % HOUR_MS)
            partition.sampled_ms = partition.curve.find_first(incarnation, partition.end, at_ms)
        partition.version += 1

    def _end(self, partition: Partition, seq: int, at_ms: int, word: str) -> None:
        row = self.write_row(partition)
        close_row(row, seq, None, at_ms, ended_by=word)
        self.ended.append(row)
        if partition.end is not None:
            partition.curve.add(
                partition.incarnation, partition.end, partition.sampled_ms, partition.confirmed_ms
            )
        partition.is_open = False
        partition.version += 1

    def write_row(self, partition: Partition) -> Row:
        """The open row of a partition."""
        row = open_row(
            self.cluster,
            partition.from_seq,
            None,
            partition.from_ms,
            topic=partition.topic,
            partition=partition.number,
            incarnation=partition.incarnation,
            broker_id=partition.broker_id,
            log_start_offset=partition.start,
            log_end_offset=partition.end,
            error=partition.error,
            sampled_at=partition.sampled_ms,
            confirmed_at=partition.confirmed_ms,
        )
        row["seen_seq"] = partition.seen_seq
        return row

    def recall_curve(self, row: Row) -> None:
        """Take up a row that has ended; they come in the order of valid_from_seq."""
        if row["log_end_offset"] is not None:
            self.partitions.get(row["topic"], row["partition"]).curve.add(
                row["incarnation"], row["log_end_offset"], row["sampled_at"], row["confirmed_at"]
            )

    def recall(self, row: Row) -> None:
        """Take up an open row, after those that have ended."""
        partition = self.partitions.get(row["topic"], row["partition"])
        partition.is_open, partition.incarnation = True, row["incarnation"]
        partition.broker_id, partition.error = row["broker_id"], row["error"]
        partition.start, partition.end = row["log_start_offset"], row["log_end_offset"]
        partition.sampled_ms, partition.confirmed_ms = row["sampled_at"], row["confirmed_at"]
        partition.from_seq, partition.from_ms = row["valid_from_seq"], row["valid_from_at"]
        partition.seen_seq = row["seen_seq"]


def _is_same_point(
    partition: Partition, entry: LogEnd, incarnation: int | None, at_ms: int
) -> bool:
    """Still the same minute, and nothing but the offsets has moved, and forward."""
    if entry.error != partition.error or entry.broker_id != partition.broker_id:
        return False
    if incarnation != partition.incarnation or (entry.log_end_offset or 0) < (partition.end or 0):
        return False
    return partition.from_ms is not None and at_ms // MINUTE_MS == partition.from_ms // MINUTE_MS


def _has_past(partition: Partition, entry: LogEnd, at_ms: int) -> bool:
    """Whether the curve can do without this end; the first of all is what the next is placed by."""
    if partition.end is None or entry.log_end_offset == partition.end:
        return True
    partition.curve.thin(at_ms - at_ms % HOUR_MS)
    return partition.curve.goes_on(partition.incarnation, partition.end)


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
