"""`zklake stream` as a process: starts Spark, keeps a query per cluster going, tells its health."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

import structlog
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from streaming.lease import hold_lease
from streaming.metrics import StreamMetrics
from streaming.query import Listener, Run, Stream
from streaming.session import build_session
from streaming.summary import Summary
from streaming.trouble import explain
from streaming.warmup import warm_up
from streaming.worker import Worker
from zklake.health import serve_health

_SAMPLE_S = 2.0


class Totals(Listener):
    """What a run has folded so far."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.batches = self.events = self.quarantined = 0

    def on_batch(self, summary: Summary, seconds: float) -> None:
        """Count one batch."""
        self.batches += 1
        self.events += summary.news
        self.quarantined += summary.bad


def run_once(spark: SparkSession, stream: Stream, *, take_over: bool = False) -> Totals:
    """Fold everything there is, then return."""
    totals = Totals(stream)
    try:
        with hold_lease(stream.lake, stream.cluster, take_over=take_over) as lost:
            Run(spark, stream, lost).run(totals, once=True)
    except OSError as error:  # of the lease file
        raise stream.explain(error) from error
    return totals


class Daemon:
    """Folds until SIGTERM or SIGINT; one cluster that fails for good does not end the others."""

    def __init__(
        self, workers: Sequence[Worker], metrics: StreamMetrics, listen: str, driver_memory: str
    ) -> None:
        self._workers, self._metrics = workers, metrics
        self._listen, self._driver_memory = listen, driver_memory
        self._stop = threading.Event()
        self._obstacle: str | None = "starting Spark"
        self._log = structlog.get_logger()

    def run(self) -> None:
        """Serve until asked to stop; the batches under way are finished first."""
        with serve_health(
            self._listen, self._metrics.registry, self.find_obstacle, self.find_illness
        ) as address:
            topics = ",".join(worker.stream.topic for worker in self._workers)
            self._log.info("starting", http=address, topics=topics)
            try:
                self._claim()
                self._run_spark()
            finally:
                for worker in self._workers:
                    worker.release()
                self._log.info("stopped")
        self._raise_first()

    def _claim(self) -> None:
        for worker in self._workers:
            worker.claim()
        if all(worker.error for worker in self._workers):
            self._raise_first()

    def _raise_first(self) -> None:
        for worker in self._workers:
            if worker.error is not None:
                raise worker.error

    def _run_spark(self) -> None:
        spark = build_session("zklake-stream", driver_memory=self._driver_memory)
        # After Spark's start: pyspark puts a SIGINT handler of its own in place.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        try:
            self._warm_up(spark)
            self._serve(spark)
        finally:
            with suppress(Py4JError, OSError):  # its JVM may have died
                spark.stop()

    def find_obstacle(self) -> str | None:
        """What is in the way of any cluster; None: all are ready."""
        if self._obstacle is not None:
            return self._obstacle
        if len(self._workers) == 1:
            return self._workers[0].obstacle
        said = [f"{w.stream.cluster}: {w.obstacle}" for w in self._workers if w.obstacle]
        return "; ".join(said) or None

    def find_illness(self) -> str | None:
        """Which cluster's query hangs; None: none does."""
        said = [(w.stream.cluster, w.find_illness()) for w in self._workers]
        return "; ".join(f"{cluster}: {illness}" for cluster, illness in said if illness) or None

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        self._obstacle = "stopping"
        self._stop.set()

    def _warm_up(self, spark: SparkSession) -> None:
        self._obstacle = "warming up"
        started = time.monotonic()
        try:
            warm_up(spark)
        except Exception as error:
            raise explain(error, log="the log", lake=tempfile.gettempdir()) from error
        self._log.info("warm", seconds=round(time.monotonic() - started, 1))
        if not self._stop.is_set():
            self._obstacle = None

    def _serve(self, spark: SparkSession) -> None:
        threads = [
            threading.Thread(target=w.run, args=(spark,), name=f"stream {w.stream.cluster}")
            for w in self._workers
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self._sample_heap(spark)
            if self._stop.wait(_SAMPLE_S):
                break
        for worker in self._workers:
            worker.stop.set()
        for thread in threads:
            thread.join()

    def _sample_heap(self, spark: SparkSession) -> None:
        with suppress(Py4JError, OSError):  # the batches tell when the JVM is gone
            jvm = spark.sparkContext._jvm
            assert jvm is not None
            runtime = jvm.java.lang.Runtime.getRuntime()
            self._metrics.heap.set(runtime.totalMemory() - runtime.freeMemory())
