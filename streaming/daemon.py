"""`zklake stream` as a process: starts Spark, keeps the query going, tells its health."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType

import structlog
from pyspark.sql import SparkSession

from streaming.metrics import StreamMetrics
from streaming.query import Run, Stream
from streaming.session import build_session
from streaming.summary import Summary
from streaming.warmup import warm_up
from zklake.errors import LogError
from zklake.health import serve_health

_RETRY_S = 2.0


class Totals:
    """What a run has folded so far."""

    def __init__(self) -> None:
        self.batches = self.events = self.quarantined = 0
        self.seconds: list[float] = []

    def add(self, summary: Summary, seconds: float) -> None:
        """Count one batch."""
        self.batches += 1
        self.events += summary.good
        self.quarantined += summary.bad
        self.seconds.append(seconds)


def run_once(spark: SparkSession, stream: Stream) -> Totals:
    """Fold everything there is, then return."""
    totals = Totals()
    Run(spark, stream, threading.Event()).run(totals.add, once=True, on_start=lambda: None)
    return totals


def fold_once(stream: Stream, driver_memory: str) -> Totals:
    """`zklake stream --once`: with a Spark of its own."""
    spark = build_session("zklake-stream", driver_memory=driver_memory)
    try:
        return run_once(spark, stream)
    finally:
        spark.stop()


class Daemon:
    """Folds until SIGTERM or SIGINT; while the log's Kafka is away it waits and tries again."""

    def __init__(self, stream: Stream, listen: str, driver_memory: str) -> None:
        self._stream, self._listen, self._driver_memory = stream, listen, driver_memory
        self._stop = threading.Event()
        self._obstacle: str | None = "starting Spark"
        self._metrics = StreamMetrics()
        self._log = structlog.get_logger().bind(cluster=stream.cluster)

    def run(self) -> None:
        """Serve until asked to stop; the batch under way is finished first."""
        with serve_health(self._listen, self._metrics.registry, lambda: self._obstacle) as address:
            self._log.info("starting", http=address, topic=self._stream.topic)
            spark = build_session("zklake-stream", driver_memory=self._driver_memory)
            # After Spark's start: pyspark puts a SIGINT handler of its own in place.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._ask_to_stop)
            try:
                self._serve(spark)
            finally:
                spark.stop()
                self._log.info("stopped")

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        self._obstacle = "stopping"
        self._stop.set()

    def _serve(self, spark: SparkSession) -> None:
        self._obstacle = "warming up"
        started = time.monotonic()
        warm_up(spark)
        self._log.info("warm", seconds=round(time.monotonic() - started, 1))
        self._obstacle = "starting the query"
        while not self._stop.is_set():
            try:
                run = Run(spark, self._stream, self._stop)
                run.run(self._count, once=False, on_start=self._be_ready)
            except LogError as error:
                self._metrics.count_restart()
                self._obstacle = "the log's Kafka does not answer"
                self._log.warning("waiting", reason=str(error))
                self._stop.wait(_RETRY_S)

    def _be_ready(self) -> None:
        self._obstacle = None
        self._log.info("ready")

    def _count(self, summary: Summary, seconds: float) -> None:
        self._metrics.count_batch(summary, seconds, time.time() * 1000)
        self._log.debug("batch", events=summary.good, seconds=round(seconds, 3))
