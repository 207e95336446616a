"""log_ends: rows of where logs start and end, from sampling rounds. Rows change only at rounds.

A row's offsets are those of the round it began with, for ever; another round is another row. Where
a round moves more logs than may begin rows, those within their minute go on, and say beside what
came last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from streaming.fold.cluster_state import ClusterState
from streaming.fold.lag import end_rows
from streaming.fold.lag.curve import HOUR_MS
from streaming.fold.lag.partition import Partition, Partitions
from streaming.fold.row import StoredRow
from zklake.events.payloads.reading import LARGEST_INT
from zklake.events.samples import LogEnd, Round

_GONE = "UNKNOWN_TOPIC_OR_PART"
MINUTE_MS = 60_000


@dataclass
class Ends:
    """The partitions of one cluster, and rows that have ended."""

    cluster: str
    partitions: Partitions
    # Beyond so many changes in a round, rows within their minute go on.
    most_points: int
    ended: list[StoredRow] = field(default_factory=list)
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
        usable = [
            end_rows.tame(entry)
            for entry in entries
            if 0 <= entry.partition <= LARGEST_INT and not is_doubtful(entry.topic)
        ]
        is_crowded = self._count_changed(usable) > self.most_points
        for entry in usable:
            self._take(entry, cluster_state, seq, at_ms, is_crowded)

    def _count_changed(self, entries: Sequence[LogEnd]) -> int:
        """Of how many open rows something else is sampled: before any of it is applied."""
        changed = set()
        for entry in entries:
            partition = self.partitions.get(entry.topic, entry.partition)
            is_known = partition.is_open and entry.error != _GONE
            if is_known and end_rows.read_entry(entry) != end_rows.read_last(partition):
                changed.add((entry.topic, entry.partition))
        return len(changed)

    def _take(
        self, entry: LogEnd, cluster_state: ClusterState, seq: int, at_ms: int, is_crowded: bool
    ) -> None:
        partition = self.partitions.get(entry.topic, entry.partition)
        partition.named_seq = seq
        if entry.error == _GONE:
            if partition.is_open:
                self._end(partition, seq, at_ms, "deleted")
            return
        topic = cluster_state.topics.get(entry.topic)
        incarnation = None if topic is None else topic.incarnation
        partition.has_topic, partition.topic_incarnation = topic is not None, incarnation
        if entry.error is None:
            partition.vouched_seq = seq
        if not partition.is_open:
            self._open(partition, entry, incarnation, seq, at_ms)
        elif end_rows.read_entry(entry) == end_rows.read_last(partition):
            end_rows.confirm(partition, seq, at_ms)
        elif is_crowded and _is_same_point(partition, entry, incarnation, at_ms):
            end_rows.move_on(partition, entry, at_ms)
            partition.version += 1
            end_rows.confirm(partition, seq, at_ms)
        else:
            self._end(partition, seq, at_ms, "changed")
            self._open(partition, entry, incarnation, seq, at_ms)

    def confirm(self, ended: Round, seq: int, at_ms: int) -> None:
        """What was not sampled still holds if its broker answered; from before a base nothing does.

        Of a broker that fails in a base nothing is concluded before it answers: it names all then.
        """
        answered = frozenset(ended.brokers_answered)
        failed = frozenset(each.broker_id for each in ended.brokers_failed)
        self.base_seq = seq if ended.is_base else self.base_seq
        for partition in self.partitions:
            if not partition.is_open or partition.named_seq == seq:
                continue
            has_answered = partition.broker_id in answered
            if partition.seen_seq < self.base_seq:
                if has_answered or (ended.is_base and partition.broker_id not in failed):
                    self._end(partition, seq, at_ms, "resync")
            elif partition.error is None and has_answered:
                end_rows.confirm(partition, seq, at_ms)
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
        end_rows.begin_row(partition, seq, at_ms)
        partition.version += 1

    def _end(self, partition: Partition, seq: int, at_ms: int, word: str) -> None:
        self.ended.append(end_rows.write_ended(self.cluster, partition, seq, at_ms, word))
        end_rows.note_last(partition)
        partition.is_open = False
        partition.version += 1


def _is_same_point(
    partition: Partition, entry: LogEnd, incarnation: int | None, at_ms: int
) -> bool:
    """Still the same minute, and nothing but the offsets has moved, and forward."""
    if entry.error != partition.error or entry.broker_id != partition.broker_id:
        return False
    if incarnation != partition.incarnation or (entry.log_end_offset or 0) < (partition.end or 0):
        return False
    return partition.from_ms is not None and at_ms // MINUTE_MS == partition.from_ms // MINUTE_MS
