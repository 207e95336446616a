"""consumption_pauses: the part of the fold of lag that follows silences, and writes pauses.

Pure. Its whole state is a Silence per group's partition, among the facts of offset_lag's open row:
so its rows follow from those, and nothing of this table is read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from streaming.fold.changes import Change, OwnerState, PartitionKey
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import begins_blindness
from streaming.fold.group_fold import TableRows
from streaming.fold.lag.commits import is_other
from streaming.fold.lag.group_partition import Commit, GroupPartition
from streaming.fold.lag.group_partitions import GroupPartitions
from streaming.fold.lag.partition import Partition
from streaming.fold.life import find_moment, is_touch
from streaming.fold.pauses import rows
from streaming.fold.pauses.holders import is_stuck
from streaming.fold.pauses.notes import Committed, Hidden, LeaderTurn, Note, OwnerTurn, Who
from streaming.fold.pauses.pause import End, is_pause
from streaming.fold.pauses.silence import Silence
from streaming.fold.pauses.turns import apply_leader, apply_owner
from streaming.fold.payload import read_payload
from streaming.fold.row import Row
from zklake.events.envelope import Event
from zklake.events.payloads.partition import PartitionState
from zklake.events.payloads.reading import read_number

TABLE = "consumption_pauses"
# What nobody saw happen.
_HIDDEN = ("inferred", "resync", "seen")


@dataclass
class Pauses:
    """Of one cluster. `written_seq`: what rounds up to there have made is in the lake."""

    cluster: str
    group_partitions: GroupPartitions
    pause_after_ms: int
    written_seq: int = -1
    # What waits for the next round; only a silence takes it, and only rounds begin silences.
    _notes: list[tuple[GroupPartition, Note]] = field(default_factory=list)
    # Whether the leader is away by the last of these notes.
    _noted_away: dict[GroupPartition, bool] = field(default_factory=dict)
    _ended: list[Row] = field(default_factory=list)
    _is_changed: bool = False
    _round_seq: int = -1

    def apply(
        self,
        event: Event,
        changes: Sequence[Change],
        committed: Sequence[GroupPartition],
        cluster_state: ClusterState,
    ) -> None:
        """Take one event, after the fold of lag has; it was news of the commits of `committed`."""
        if committed:
            self._note_commits(event, committed)
        elif event.kind == "partition_state":
            self._note_leader(event)
        elif event.op == "seq_hole" or (event.op == "gap" and begins_blindness(event)):
            self._note_hidden(is_hole=event.op == "seq_hole")
        for change in changes:
            if change.kind.startswith("owner_"):
                self._note_owner(change, event, cluster_state)

    def _note_commits(self, event: Event, committed: Sequence[GroupPartition]) -> None:
        seq, seen_ms = event.seq, event.observed_at_ms
        for each in committed:
            latest = _find_latest(each)
            if latest is not None and _find_silence(each) is not None:
                log_end = _find_log_end(each.partition)
                note = Committed(latest.offset, latest.at_ms, seq, seen_ms, log_end)
                self._notes.append((each, note))

    def _note_leader(self, event: Event) -> None:
        parts = (event.path or "").split("/")
        number = read_number(parts[5]) if len(parts) == 7 else None
        if number is None or is_touch(event):
            return
        partition = self.group_partitions.partitions.by_topic.get(parts[3], {}).get(number)
        silent = [] if partition is None else [*filter(_find_silence, partition.group_partitions)]
        if not silent:
            return
        payload = None if event.op == "delete" else read_payload(event)[0]
        state = payload if isinstance(payload, PartitionState) else None
        isr = () if state is None else state.isr
        turn = LeaderTurn(
            state is not None and state.leader == -1,
            event.seq,
            find_moment(event).at_ms or event.observed_at_ms,
            isr[0] if len(isr) == 1 else None,
        )
        for each in silent:
            # A leader that stays, as in most writes, changes no silence.
            if turn.is_away or self._is_away(each):
                self._notes.append((each, turn))
                self._noted_away[each] = turn.is_away

    def _is_away(self, each: GroupPartition) -> bool:
        """Whether its leader is, by all that was noted."""
        if each in self._noted_away:
            return self._noted_away[each]
        silence = _find_silence(each)
        return silence is not None and silence.find_ongoing("leader_away") is not None

    def _note_owner(self, change: Change, event: Event, cluster_state: ClusterState) -> None:
        assert change.group is not None
        assert change.topic is not None
        key = PartitionKey(change.topic, change.partition or 0)
        known = self.group_partitions.find(change.group, key)
        if known is not None and _find_silence(known) is not None:
            turn = OwnerTurn(
                _read_who(change.before),
                _read_who(change.after),
                event.seq,
                event.observed_at_ms,
                change.cause == "session_ended",
                change.cause in _HIDDEN,
                cluster_state.knows_owners(change.group),
            )
            self._notes.append((known, turn))

    def _note_hidden(self, *, is_hole: bool) -> None:
        for each in filter(_find_silence, self.group_partitions):
            if is_hole or each.group.key.coordinator == "zookeeper":
                self._notes.append((each, Hidden()))

    def settle(self, seq: int) -> None:
        """A round: let the silences take what happened since the last one."""
        self._round_seq = seq
        for group_partition, note in self._notes:
            silence = _find_silence(group_partition)
            if silence is not None:
                if silence.notes:
                    silence.notes = []
                self._apply(group_partition, silence, note)
        self._notes.clear()
        self._noted_away.clear()

    def stash(self) -> None:
        """Put what waits for the next round where it is written."""
        waiting: dict[GroupPartition, list[Note]] = {}
        for group_partition, note in self._notes:
            waiting.setdefault(group_partition, []).append(note)
        for group_partition, notes in waiting.items():
            if (silence := _find_silence(group_partition)) is not None:
                silence.notes = notes

    def recall(self) -> None:
        """Take up what waited for the next round, from the facts."""
        for each in self.group_partitions:
            if (silence := _find_silence(each)) is not None:
                for note in silence.notes:
                    self._notes.append((each, note))
                    if isinstance(note, LeaderTurn):
                        self._noted_away[each] = note.is_away

    def _apply(self, group_partition: GroupPartition, silence: Silence, note: Note) -> None:
        match note:
            case Committed():
                self._apply_commit(group_partition, silence, note)
            case OwnerTurn():
                apply_owner(silence, note)
            case LeaderTurn():
                apply_leader(silence, note)
            case Hidden():
                silence.is_hidden = True
        self._is_changed |= silence.is_paused

    def _apply_commit(
        self, group_partition: GroupPartition, silence: Silence, note: Committed
    ) -> None:
        if note.offset is None or note.offset < 0:
            return
        if note.offset <= silence.offset:
            silence.offset = note.offset
            return
        at_ms = note.seen_ms if note.at_ms is None else min(note.at_ms, note.seen_ms)
        at_ms = max(at_ms, silence.at_ms, silence.from_ms or 0)
        if self._was_pause(silence, at_ms):
            end = End(at_ms, note.seq, "progress", note.log_end, note.offset)
            self._end(group_partition, silence, end)
        silence.go_on(note.offset, at_ms, note.seq, note.log_end)

    def judge(
        self, partitions: Iterable[Partition], seq: int, at_ms: int, after_seq: int, is_blind: bool
    ) -> None:
        """A round has shown where logs end: silences begin, become pauses, or are over."""
        for partition in partitions:
            for each in partition.group_partitions:
                if is_blind and each.group.key.coordinator == "zookeeper":
                    continue
                if each.facts is not None:
                    self._judge(each, partition, seq, at_ms, after_seq)

    def _judge(
        self, each: GroupPartition, partition: Partition, seq: int, at_ms: int, after_seq: int
    ) -> None:
        assert each.facts is not None
        silence, commit = each.facts.silence, _find_latest(each)
        if commit is None or not _is_of_log(commit, partition, silence):
            self.drop(each, seq, at_ms)
            silence = each.facts.silence
        if partition.vouched_seq != seq or not partition.is_open or partition.end is None:
            return
        if silence is None:
            if commit is None or not _is_of_log(commit, partition, None):
                return
            silence = each.facts.silence = _begin(each, commit, partition, at_ms)
        if partition.end > silence.offset:
            if silence.from_ms is None:
                self._begin_waiting(silence, seq, at_ms)
            self._open(silence, each.group.key.coordinator, at_ms)
        elif commit is not None and commit.seq <= after_seq:
            self._empty(each, silence, partition, seq, at_ms)

    def _begin_waiting(self, silence: Silence, seq: int, at_ms: int) -> None:
        if silence.empty_ms is None:
            silence.from_ms, silence.from_seq = silence.at_ms, silence.seq
        else:
            silence.from_ms, silence.from_seq = at_ms, seq

    def _open(self, silence: Silence, coordinator: str, at_ms: int) -> None:
        assert silence.from_ms is not None
        after_ms = self.pause_after_ms
        if not silence.is_paused and is_pause(silence, silence.from_ms, at_ms, after_ms):
            silence.is_paused = self._is_changed = True
        if silence.is_paused and not silence.is_stuck:
            silence.is_stuck = is_stuck(silence, coordinator, at_ms, after_ms)
            self._is_changed |= silence.is_stuck

    def _empty(
        self, each: GroupPartition, silence: Silence, partition: Partition, seq: int, at_ms: int
    ) -> None:
        if silence.from_ms is not None and self._was_pause(silence, at_ms):
            self._end(each, silence, End(at_ms, seq, "emptied", partition.end))
        silence.find_empty(at_ms)

    def drop(self, each: GroupPartition, seq: int, at_ms: int) -> None:
        """The commit, the topic or the group is gone: nothing more is known of it."""
        if each.facts is not None and each.facts.silence is not None:
            silence = each.facts.silence
            if silence.from_ms is not None and self._was_pause(silence, at_ms):
                self._end(each, silence, End(at_ms, seq, "deleted", None))
            each.facts.silence = None

    def _was_pause(self, silence: Silence, at_ms: int) -> bool:
        """Whether the silence that ends then is a row."""
        begin_ms = silence.find_begin()
        if begin_ms is None:
            return False
        # What was written as a pause stays one, even if the commit is older than that round.
        return silence.is_paused or is_pause(silence, begin_ms, at_ms, self.pause_after_ms)

    def _end(self, each: GroupPartition, silence: Silence, end: End) -> None:
        begin_ms = silence.find_begin()
        assert begin_ms is not None
        self._is_changed = True
        if self._round_seq > self.written_seq:
            place = rows.find_place(self.cluster, each)
            row = rows.write_ended(place, silence, begin_ms, end, self.pause_after_ms)
            self._ended.append(row)

    def take(self, seq: int, *, idle: bool) -> TableRows | None:
        """What the table must hold, if there is news."""
        if seq <= self.written_seq or not (self._is_changed or idle):
            return None
        taken = TableRows(list(self._write_open()), self._ended, seq)
        self._ended, self._is_changed = [], False
        return taken

    def _write_open(self) -> Iterator[Row]:
        for each in self.group_partitions:
            silence = _find_silence(each)
            if silence is not None and silence.is_paused:
                place = rows.find_place(self.cluster, each)
                yield rows.write_open(place, silence, self.pause_after_ms)


def _begin(each: GroupPartition, commit: Commit, partition: Partition, at_ms: int) -> Silence:
    """Nothing is known of the time before; the offset stands since it was committed."""
    assert commit.offset is not None
    begin_ms = at_ms if commit.at_ms is None else min(commit.at_ms, at_ms)
    # Nor who owned it before the one that is there, if that one came later.
    claim_ms = None if each.claim_ms is None else min(each.claim_ms, at_ms)
    if claim_ms is not None and claim_ms <= begin_ms:
        claim_ms = None
    return Silence(
        commit.offset,
        begin_ms,
        commit.seq,
        partition.incarnation,
        has_owner=each.has_owner,
        owner=each.owner,
        owner_member_id=each.owner_member_id,
        claim_ms=claim_ms,
        forgotten_ms=claim_ms,
    )


def _find_silence(each: GroupPartition) -> Silence | None:
    return None if each.facts is None else each.facts.silence


def _find_latest(each: GroupPartition) -> Commit | None:
    """The commit by the last event, whether or not a round pairs with it yet."""
    latest = each.waiting[-1] if each.waiting else each.commit
    return None if latest is None or latest.is_gone else latest


def _is_of_log(commit: Commit, partition: Partition, silence: Silence | None) -> bool:
    """Whether the offset says something of the log that is there."""
    if commit.offset is None or commit.offset < 0 or not partition.is_open:
        return False
    if silence is not None and silence.incarnation != partition.incarnation:
        return False
    return not is_other(commit.zxid, commit.incarnation, partition.topic_incarnation)


def _read_who(state: object) -> Who | None:
    return Who(state.owner, state.owner_member_id) if isinstance(state, OwnerState) else None


def _find_log_end(partition: Partition) -> int | None:
    return partition.end if partition.is_open else None
