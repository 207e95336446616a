"""One run of the streaming query: from the lake's watermark until told to stop, or to the end.

An error inside a batch ends the run; the next run starts from what the lake says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streaming.job import Fold
from streaming.lake import Lake
from streaming.progress import read_progress
from streaming.source import fresh_checkpoint, read_log
from streaming.summary import Summary
from zklake.errors import LakeError, LogError, ZklakeError

_KAFKA_SIGNS = ("org.apache.kafka", "KafkaException", "UnknownTopicOrPartition", "KAFKA")
_LOSS_SIGNS = ("KAFKA_DATA_LOSS", "OffsetOutOfRange", "may have been lost", "could not be met")
_POLL_S = 0.2
# A batch that hangs must not keep the process for ever; the lake is safe at any point.
_LAST_BATCH_S = 60.0

OnBatch = Callable[[Summary, float], None]


@dataclass(frozen=True)
class Stream:
    """What to fold, from where, into which lake."""

    bootstrap: str
    topic: str
    cluster: str
    lake: str
    max_records: int = 300_000
    trigger_ms: int = 1000
    checkpoint_parent: str | None = None


class _Stopped(Exception):
    """Ends a batch that began after the wish to stop."""


class Run:
    """The query's life; `stop` is honoured between batches, never in the middle of one."""

    def __init__(self, spark: SparkSession, stream: Stream, stop: threading.Event) -> None:
        self._spark, self._stream, self._stop = spark, stream, stop
        self._idle = threading.Event()
        self._idle.set()
        self._fold: Fold | None = None
        self._error: Exception | None = None

    def run(self, on_batch: OnBatch, *, once: bool, on_start: Callable[[], None]) -> None:
        """Fold until stopped; with `once`, until everything there was is folded."""
        stream = self._stream
        Lake(self._spark, stream.lake, stream.cluster).create_tables()
        self._progress = read_progress(stream.lake, stream.cluster, stream.topic)
        log = read_log(
            self._spark, stream.bootstrap, stream.topic, self._progress.offset, stream.max_records
        )
        with fresh_checkpoint(stream.checkpoint_parent) as checkpoint:
            writer = log.writeStream.foreachBatch(self._guard(on_batch))
            writer = writer.option("checkpointLocation", checkpoint)
            if once:
                query = writer.trigger(availableNow=True).start()
            else:
                query = writer.trigger(processingTime=f"{stream.trigger_ms} milliseconds").start()
            on_start()
            self._await(query)

    def _guard(self, on_batch: OnBatch) -> Callable[[DataFrame, int], None]:
        def fold_batch(records: DataFrame, _batch_id: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self._idle.clear()
            try:
                self._fold_timed(records, on_batch)
            except Exception as error:
                self._error = error
                raise
            finally:
                self._idle.set()

        return fold_batch

    def _fold_timed(self, records: DataFrame, on_batch: OnBatch) -> None:
        if self._fold is None:
            # Spark runs a query in a session of its own; frames of two sessions do not mix.
            lake = Lake(records.sparkSession, self._stream.lake, self._stream.cluster)
            self._fold = Fold(lake, self._progress)
        started = time.monotonic()
        summary = self._fold.fold_batch(records)
        on_batch(summary, time.monotonic() - started)

    def _await(self, query: StreamingQuery) -> None:
        try:
            while not query.awaitTermination(_POLL_S):  # type: ignore[arg-type]
                if self._stop.is_set():
                    self._idle.wait(_LAST_BATCH_S)
                    query.stop()
                    return
        except PySparkException as error:
            if not self._stop.is_set():
                raise self._explain(error) from error
        finally:
            query.stop()

    def _explain(self, error: PySparkException) -> ZklakeError:
        if isinstance(self._error, ZklakeError):
            return self._error
        stream, cause = self._stream, self._error or error
        text = " ".join(str(cause).split())[:600]
        if any(sign in str(cause) for sign in _LOSS_SIGNS):
            return LakeError(
                f"topic {stream.topic} on {stream.bootstrap} no longer holds what follows offset "
                f"{self._progress.offset} of the lake {stream.lake}/{stream.cluster}: {text}. "
                "Fold the log into a new lake (--lake), or restore the topic"
            )
        if self._error is None and any(sign in str(error) for sign in _KAFKA_SIGNS):
            return LogError(
                f"topic {stream.topic} on {stream.bootstrap} cannot be read: {text}. "
                "Is the log's Kafka up, and has `zklake watch` made the topic?"
            )
        return LakeError(f"a batch into {stream.lake}/{stream.cluster} failed: {text}")
