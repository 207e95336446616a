"""One run of the streaming query: from the lake's watermark until told to stop, or to the end.

An error inside a batch ends the run; the next run starts from what the lake says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streaming.batch import Batch, Fold
from streaming.division import merge
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.progress import LakeProgress, leave_log, read_progress
from streaming.log.behind import count_behind
from streaming.log.doorbell import Doorbell
from streaming.log.identity import LogPartition, accept_log, check_log
from streaming.log.source import fresh_checkpoint, read_log, read_records
from streaming.phases import Phases
from streaming.tasks import LARGE, fold_in_tasks
from streaming.trouble import explain
from zklake.errors import LogError, OtherLog, ZklakeError
from zklake.events.envelope import TXNLOG_ID
from zklake.settings.names import looks_secret

_log = structlog.get_logger()
_POLL_S = 0.2
_LOOK_S = 5.0
# A batch that hangs must not keep the process for ever; the lake is safe at any point.
_LAST_BATCH_S = 60.0


@dataclass(frozen=True)
class Stream:
    """What to fold, from where, into which lake."""

    bootstrap: str
    topic: str
    cluster: str
    lake: str
    max_records: int = 100_000
    # From so many records on, a batch is folded in Spark tasks.
    large: int = LARGE
    trigger_ms: int = 200
    checkpoint_parent: str | None = None
    # librdkafka options of the log's clients.
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    # Whether another log than the lake's may take its place.
    accept_log: bool = False
    rules: Rules = field(default_factory=Rules)

    @property
    def place(self) -> str:
        """Where the tables are."""
        return f"{self.lake}/{self.cluster}"

    def explain(self, error: BaseException) -> ZklakeError:
        """What an error of a run means."""
        secrets = [value for name, value in self.client.items() if looks_secret(name)]
        log = f"topic {self.topic} on {self.bootstrap}"
        return explain(error, log=log, lake=self.place, secrets=secrets)


class Listener:
    """What a run reports about itself, from whichever thread it happens in."""

    def on_start(self) -> None:
        """The query has started."""

    def on_batch(self, batch: Batch, seconds: float) -> None:
        """A batch was folded and committed."""

    def on_phase(self, phase: str, seconds: float) -> None:
        """A phase of a batch has ended."""

    def on_look(self, behind: int) -> None:
        """So many records of the log are not folded yet."""

    def wants_pause(self) -> bool:
        """Whether something waits for the time between two batches."""
        return False

    def on_pause(self) -> None:
        """A batch is over, and the next one waits until this returns."""


class _Stopped(Exception):
    """Ends a batch that began after the wish to stop."""


class Run:
    """The query's life; `stop` and pauses come between batches, never in the middle of one."""

    def __init__(
        self,
        spark: SparkSession,
        stream: Stream,
        stop: threading.Event,
        unfoldable: Mapping[int, str] | None = None,
    ) -> None:
        """`unfoldable`: events to set aside, by seq, and why."""
        self._spark, self._stream, self._stop = spark, stream, stop
        self._unfoldable = unfoldable
        self._lake = Lake(stream.lake, stream.cluster)
        # Held while a batch is folded, and in a pause.
        self._busy = threading.Lock()
        self._fold: Fold | None = None
        self._error: Exception | None = None
        self._doorbell: Doorbell | None = None
        self._partition: LogPartition | None = None
        # How many the last batch had; before the first it may be any number.
        self._last_events = stream.large
        # Where the lake stood when the run began.
        self.progress = LakeProgress()

    def run(self, listener: Listener, *, once: bool) -> None:
        """Fold until stopped; with `once`, until everything there was is folded."""
        try:
            self._run(listener, once)
        except Exception as error:
            cause = self._error or error
            meaning = self._stream.explain(cause)
            raise meaning from (None if meaning is cause else cause)

    def _run(self, listener: Listener, once: bool) -> None:
        stream = self._stream
        with LogPartition(stream.bootstrap, stream.client, stream.topic) as partition:
            self._partition = partition
            start = self._find_start(partition)
            self._lake.create_tables()
            with (
                fresh_checkpoint(stream.checkpoint_parent) as checkpoint,
                closing(Doorbell(stream.bootstrap, stream.client, stream.topic)) as doorbell,
            ):
                self._doorbell = None if once else doorbell
                query = self._start(start, checkpoint, listener, once)
                listener.on_start()
                self._await(query, partition, start, listener)
        if once and self._fold is not None:
            self._fold.finish()

    def _find_start(self, partition: LogPartition) -> LakeProgress:
        stream = self._stream
        self.progress = read_progress(stream.lake, stream.cluster, stream.topic)
        if self.progress.log_id == TXNLOG_ID:
            # All that the lake has was read from ZooKeeper's own files: any log may follow.
            partition.find_bounds()
            return accept_log(self.progress)
        try:
            check_log(partition, self.progress, stream.place)
        except OtherLog:
            if not stream.accept_log:
                raise
            leave_log(stream.lake, stream.cluster)
            return accept_log(self.progress)
        return self.progress

    def _start(
        self, start: LakeProgress, checkpoint: str, listener: Listener, once: bool
    ) -> StreamingQuery:
        stream = self._stream
        log = read_log(
            self._spark,
            stream.bootstrap,
            stream.topic,
            start.offset,
            max_records=stream.max_records,
            client=stream.client,
        )
        writer = log.writeStream.foreachBatch(self._guard(start, listener))
        writer = writer.option("checkpointLocation", checkpoint)
        if once:
            return writer.trigger(availableNow=True).start()
        # At once: each batch itself waits until there is something for the next.
        return writer.trigger(processingTime="0 seconds").start()

    def _guard(self, start: LakeProgress, listener: Listener) -> Callable[[DataFrame, int], None]:
        def fold_batch(records: DataFrame, _batch_id: int) -> None:
            began = time.monotonic()
            with self._busy:
                if self._stop.is_set():
                    raise _Stopped
                try:
                    batch = self._fold_timed(records, start, listener)
                except Exception as error:
                    self._error = error
                    raise
            if self._doorbell is not None:
                self._wait_for_news(self._doorbell, batch, began)

        return fold_batch

    def _wait_for_news(self, doorbell: Doorbell, batch: Batch, began: float) -> None:
        """Until there is something to fold, and some time has passed since the batch began."""
        offset = self._fold.progress.read_offset + 1 if self._fold else 0
        doorbell.wait(offset, self._stop, for_heartbeats=not batch.is_quiet)
        self._stop.wait(max(0.0, began + self._stream.trigger_ms / 1000 - time.monotonic()))

    def _fold_timed(self, records: DataFrame, start: LakeProgress, listener: Listener) -> Batch:
        stream = self._stream
        if self._fold is None:
            self._fold = Fold(
                self._lake,
                start,
                stream.topic,
                phases=Phases(listener.on_phase),
                rules=stream.rules,
                unfoldable=self._unfoldable,
            )
        started = time.monotonic()
        batch = self._fold_divided(self._fold, records) if self._is_far_behind() else None
        if batch is None:
            batch = self._fold.fold_batch(read_records(records))
        self._last_events = batch.events
        listener.on_batch(batch, time.monotonic() - started)
        return batch

    def _is_far_behind(self) -> bool:
        """Whether the next batch is large. Nobody is asked while batches are small."""
        large, partition = self._stream.large, self._partition
        if self._last_events < large or self._stream.max_records < large or partition is None:
            return False
        try:
            low, high = partition.find_bounds()
        except LogError:
            return False  # the query itself will fail
        read = self._fold.progress.read_offset if self._fold else -1
        return high - max(low, read + 1) >= large

    def _fold_divided(self, fold: Fold, records: DataFrame) -> Batch | None:
        """Fold a large batch in tasks; None: it cannot be."""
        work = fold.divide()
        if work is None:
            return None
        with fold.phases.time("tasks"):
            division = merge(fold_in_tasks(self._spark, records, work))
        if isinstance(division, str):
            _log.info("a large batch is folded by the driver", because=division)
            return None
        return fold.fold_division(division)

    def _await(
        self,
        query: StreamingQuery,
        partition: LogPartition,
        start: LakeProgress,
        listener: Listener,
    ) -> None:
        look_at = time.monotonic()
        try:
            while not query.awaitTermination(_POLL_S):  # type: ignore[arg-type]
                if self._stop.is_set():
                    self._await_batch_end()
                    return
                if listener.wants_pause():
                    self._pause(listener)
                if time.monotonic() >= look_at:
                    is_idle = self._doorbell is not None and self._doorbell.is_waiting
                    behind = 0 if is_idle else count_behind(query, partition, start)
                    if behind is not None:
                        listener.on_look(behind)
                    look_at = time.monotonic() + _LOOK_S
        except Exception:
            if not self._stop.is_set():
                raise
        finally:
            query.stop()

    def _await_batch_end(self) -> None:
        if self._busy.acquire(timeout=_LAST_BATCH_S):
            self._busy.release()

    def _pause(self, listener: Listener) -> None:
        """Keep the next batch waiting for one step; a batch under way is not waited for long."""
        if self._busy.acquire(timeout=_POLL_S):
            try:
                listener.on_pause()
            finally:
                self._busy.release()
