"""One batch of the log -> one commit in every table it touches; znode_events comes last.

Each table is guarded on its own (interval tables by Delta's transaction marker, znode_events by its
largest seq, quarantine by offset), so a replay, another cut into batches, or a crash between two
tables changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.division import Division, Work
from streaming.fold.cluster import ClusterFold
from streaming.fold.part import PART_NAMES, prepare_parts
from streaming.fold.rules import Rules
from streaming.lake.events import read_entries
from streaming.lake.lake import Lake
from streaming.lake.new_files import NewFile
from streaming.lake.progress import LakeProgress
from streaming.lake.recall import find_recall_seq, read_markers, recall_cluster
from streaming.lake.writer import Mark
from streaming.log.continuity import Continuity, Entry
from streaming.log.records import LogPosition, Record, Rejected, judge_record
from streaming.memory import MemoryTrimmer
from streaming.phases import Phases
from zklake.errors import OtherLog
from zklake.events.envelope import Event

# A commit is mostly waiting for files: more threads than cores pay.
_WRITERS = 4


@dataclass
class Batch:
    """What one batch held."""

    # Good records, and those put in quarantine.
    events: int = 0
    quarantined: int = 0
    last_seq: int | None = None
    observed_at_ms: int | None = None
    # Nothing but heartbeats, and nothing that waits for the next of them.
    is_quiet: bool = True


@dataclass
class _Read:
    """What the records of a batch say."""

    entries: list[Entry] = field(default_factory=list)
    rejected: list[tuple[Record, str]] = field(default_factory=list)


class Fold:
    """Folds batches into one lake, in order. After an error it must be made anew."""

    def __init__(
        self,
        lake: Lake,
        progress: LakeProgress,
        topic: str,
        *,
        phases: Phases | None = None,
        rules: Rules | None = None,
        unfoldable: Mapping[int, str] | None = None,
    ) -> None:
        """`unfoldable`: events that failed again and again, by seq, and why."""
        self.lake, self.progress, self.topic = lake, progress, topic
        self.rules, self.phases = rules or Rules(), phases or Phases()
        self._unfoldable = unfoldable or {}
        self._memory = MemoryTrimmer()
        self._cluster: ClusterFold | None = None
        self._markers: dict[str, int] = {}
        # How far the log was read; None: the first event will say which log it is.
        self._continuity: Continuity | None = None
        if progress.log_id is not None:
            self._continuity = self._go_on(progress.log_id)
        # Folded and kept, but not in znode_events yet.
        self._kept: list[Entry] = []
        # The last event that was read, whether or not it is folded.
        self._last_seq = progress.seq

    def fold_batch(self, records: Iterable[Record], *, final: bool = False) -> Batch:
        """Fold records of the log in order of their offsets; `final`: none follows for now."""
        with self._memory.hold():
            return self._fold_records(records, final=final)

    def _fold_records(self, records: Iterable[Record], *, final: bool) -> Batch:
        batch = Batch()
        with self.phases.time("decode"):
            read = self._read(records, batch)
        if read.rejected:
            self._quarantine(read.rejected)
        if self._continuity is not None:
            with self.phases.time("fold"):
                cluster = self._walk(read.entries, self._continuity.log_id, final=final)
            self._commit(cluster, self._continuity.log_id)
            is_news = any(entry.event.op != "heartbeat" for entry in read.entries)
            batch.is_quiet = not is_news and cluster.runs.held_seq is None
        return batch

    def finish(self) -> None:
        """Fold what was held back: nothing follows for now."""
        self.fold_batch((), final=True)

    def divide(self) -> Work | None:
        """What tasks must know to fold the next batch; None: it cannot be divided."""
        known, cluster = self._continuity, ClusterFold(self.lake.cluster)
        if self._unfoldable or (known is None and self.progress.seq >= 0):
            return None
        if known is not None:
            cluster = self._find_cluster(known.log_id)
            markers = (cluster.intervals[name].marker for name in PART_NAMES)
            if known.has_repeats or max(markers) > self.progress.seq:
                return None
        log_id = known.log_id if known else None
        return Work(prepare_parts(cluster), log_id, self.topic, datetime.now(UTC))

    def fold_division(self, division: Division) -> Batch | None:
        """Fold a batch that tasks have folded in parts; None: it must be folded whole."""
        first, last = division.heads.find(0), division.heads.find(-1)
        if self._continuity is None:
            self._continuity = self._go_on(division.log_id)
        if not self._continuity.goes_on(first.seq) or first.offset <= self.progress.read_offset:
            return None
        with self._memory.hold():
            self._continuity.pass_over(LogPosition(last.seq, division.latest_ms))
            self.progress.read_offset, self._last_seq = last.offset, last.seq
            with self.phases.time("fold"):
                cluster = self._find_cluster(division.log_id)
                self._walk_division(division, cluster)
            self._commit(cluster, division.log_id, division)
        return Batch(division.heads.size, 0, last.seq, last.observed_at_ms, is_quiet=False)

    def _walk_division(self, division: Division, cluster: ClusterFold) -> None:
        """Fold what tasks have left, and take over what they have made."""
        cluster.divide(PART_NAMES, division.read_states)
        for passed, entry, is_folded in division.list_steps():
            if passed is not None:
                self._kept += cluster.pass_over(passed.seq, passed.observed_at_ms)
            if entry is not None:
                kept = cluster.walk((entry,))
                # One that tasks have folded is the last that it releases.
                self._kept += kept[:-1] if is_folded else kept
        cluster.take_over(division.made.changed)

    def _read(self, records: Iterable[Record], batch: Batch) -> _Read:
        """Judge each record by itself; what was read before is passed over."""
        read, progress = _Read(), self.progress
        for record in records:
            if record.offset <= progress.read_offset:
                continue
            progress.read_offset = record.offset
            reason = self._judge(record, read.entries)
            if reason is None:
                batch.events += 1
            else:
                batch.quarantined += 1
                read.rejected.append((record, reason))
        if read.entries:
            last = read.entries[-1].event
            batch.last_seq, batch.observed_at_ms = last.seq, last.observed_at_ms
            self._last_seq = last.seq
        return read

    def _judge(self, record: Record, entries: list[Entry]) -> str | None:
        """Why a record cannot be folded; else its event is one of the entries now."""
        known = self._continuity.log_id if self._continuity else None
        judged = judge_record(record.value, self.lake.cluster, known)
        if isinstance(judged, Event) and judged.seq in self._unfoldable:
            reason = f"it could not be folded: {self._unfoldable[judged.seq]}"
            judged = Rejected(reason, LogPosition(judged.seq, judged.observed_at_ms))
        if isinstance(judged, Rejected):
            if judged.place is not None and self._continuity is not None:
                breaks = self._continuity.judge(judged.place, record.offset)
                entries += [] if isinstance(breaks, str) else breaks
            return judged.reason
        continuity = self._find_continuity(judged)
        breaks = continuity.judge(LogPosition(judged.seq, judged.observed_at_ms), record.offset)
        if isinstance(breaks, str):
            return breaks
        entries += breaks
        if continuity.has_repeats:
            entries += continuity.emit_repeats(judged.seq)
        entries.append(Entry(judged, record.offset))
        return None

    def _find_continuity(self, event: Event) -> Continuity:
        """Where the log goes on; the first event of all says which log it is."""
        if self._continuity is None:
            if event.seq <= self.progress.seq:
                raise OtherLog(
                    f"the log that was accepted begins at seq {event.seq}, and the lake "
                    f"{self.lake.path}/{self.lake.cluster} already holds {self.progress.seq}: its "
                    "history cannot follow. Fold it into a new lake (--lake)"
                )
            self._continuity = self._go_on(event.log_id)
        return self._continuity

    def _go_on(self, log_id: str) -> Continuity:
        progress = self.progress
        return Continuity(self.lake.cluster, log_id, progress.read_seq, progress.read_at_ms)

    def _quarantine(self, rejected: list[tuple[Record, str]]) -> None:
        news = [each for each in rejected if each[0].offset > self.progress.quarantined_offset]
        if news:
            self.lake.append_quarantine(news, self.topic)
            self.progress.quarantined_offset = news[-1][0].offset

    def _walk(self, entries: Iterable[Entry], log_id: str, *, final: bool) -> ClusterFold:
        """Take the entries through the fold; what is kept of them waits for its commit."""
        cluster = self._find_cluster(log_id)
        self._kept += cluster.walk(entries)
        if final:
            self._kept += cluster.finish()
        return cluster

    def _find_cluster(self, log_id: str) -> ClusterFold:
        if self._cluster is None:
            self._cluster = self._recall(log_id)
        return self._cluster

    def _recall(self, log_id: str) -> ClusterFold:
        """The fold as of the lake, and what some tables do not hold yet folded again."""
        seq, known = self.progress.seq, self.progress.log_id
        self._markers = read_markers(self.lake, log_id)
        known_markers = self._markers if known == log_id else read_markers(self.lake, known)
        recalled_seq = find_recall_seq(seq, known_markers)
        cluster = recall_cluster(self.lake, recalled_seq, self._markers, self.rules)
        missed = read_entries(self.lake.path, self.lake.cluster, recalled_seq, seq)
        # All of it is in znode_events.
        cluster.walk(entry for entry in missed if entry.event.seq not in self._unfoldable)
        return cluster

    def _commit(self, cluster: ClusterFold, log_id: str, division: Division | None = None) -> None:
        held_seq = cluster.runs.held_seq
        last_seq = self._last_seq if held_seq is None else held_seq - 1
        if last_seq <= self.progress.seq:
            return
        kept = [entry for entry in self._kept if entry.event.seq > self.progress.seq]
        files = {} if division is None else division.made.files
        made = files.get(ZNODE_EVENTS.name, [])
        with ThreadPoolExecutor(_WRITERS) as pool:
            # Their file is written meanwhile, but it is the last to be committed.
            events = pool.submit(self.lake.write_events, kept, self.topic, made)
            self._commit_tables(cluster, log_id, pool, files)
            with self.phases.time("znode_events"):
                if stored := events.result():
                    self.lake.append_events(stored, Mark(log_id, last_seq))
        self._kept = []
        self.progress.log_id, self.progress.seq = log_id, last_seq

    def _commit_tables(
        self, cluster: ClusterFold, log_id: str, pool: Executor, files: Mapping[str, list[NewFile]]
    ) -> None:
        """Side by side: nothing reads what another one writes."""
        mark = Mark(log_id, cluster.event_seq)
        tasks: dict[str, Callable[[], None]] = {}
        for fold in cluster.intervals.values():
            if fold.is_touched:
                made = (fold, mark, files.get(fold.table.name, []))
                tasks[fold.table.name] = lambda made=made: self.lake.replace_shards(*made)  # type: ignore[misc]
        for step in cluster.steps:
            if step.is_touched:
                rows = (TABLE_BY_NAME[step.fold.name], *step.take(), mark)
                tasks[step.fold.name] = lambda rows=rows: self.lake.replace_rows(*rows)  # type: ignore[misc]
        self._run(tasks.items(), pool)
        self._commit_groups(cluster, log_id, pool)

    def _commit_groups(self, cluster: ClusterFold, log_id: str, pool: Executor) -> None:
        """Written side by side, committed in order.

        offset_lag before log_ends: after a crash between the two it may be ahead, never behind.
        """
        found = cluster.group_folds.take().items()
        news = {name: taken for name, taken in found if taken.seq > self._markers[name]}
        written = {
            name: pool.submit(
                self.lake.write_rows, TABLE_BY_NAME[name], taken.open_rows, taken.ended_rows
            )
            for name, taken in news.items()
        }
        for name, taken in news.items():
            with self.phases.time(name):
                mark = Mark(log_id, taken.seq)
                self.lake.commit_rows(TABLE_BY_NAME[name], written[name].result(), mark)
            self._markers[name] = taken.seq

    def _run(self, tasks: Collection[tuple[str, Callable[[], None]]], pool: Executor) -> None:
        def commit(name: str, task: Callable[[], None]) -> None:
            with self.phases.time(name):
                task()

        for done in [pool.submit(commit, *each) for each in tasks]:
            done.result()
