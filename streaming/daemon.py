"""`zklake stream` as a process: starts Spark, keeps a query per cluster, serves its health."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

import structlog
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from streaming.batch import Batch
from streaming.lake.lease import hold_lease
from streaming.metrics import StreamMetrics
from streaming.patience import RetryPolicy
from streaming.query import Listener, Run, Stream
from streaming.trouble import EventFailed
from streaming.worker import Worker
from zklake.health import serve_health

_SAMPLE_S = 2.0


class Totals(Listener):
    """What a run has folded so far."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.batches = self.events = self.quarantined = 0

    def on_batch(self, batch: Batch, seconds: float) -> None:
        """Count one batch."""
        self.batches += 1
        self.events += batch.events
        self.quarantined += batch.quarantined


def run_once(spark: SparkSession, stream: Stream, *, take_over: bool = False) -> Totals:
    """Fold everything there is, then return."""
    totals, patience = Totals(stream), RetryPolicy()
    try:
        with hold_lease(stream.lake, stream.cluster, take_over=take_over) as lost:
            while True:
                run = Run(spark, stream, lost, patience.unfoldable)
                try:
                    run.run(totals, once=True)
                    return totals
                except EventFailed as error:
                    # Nothing to wait for: what fails again is set aside.
                    patience.judge(error, run.progress.seq)
    except OSError as error:  # of the lease file
        raise stream.explain(error) from error


class Daemon:
    """Folds until SIGTERM or SIGINT; one cluster that fails for good does not end the others."""

    def __init__(
        self,
        workers: Sequence[Worker],
        metrics: StreamMetrics,
        listen: str,
        start_spark: Callable[[], SparkSession],
    ) -> None:
        self._workers, self._metrics = workers, metrics
        self._listen, self._start_spark = listen, start_spark
        self._stop = threading.Event()
        self._obstacle: str | None = "starting Spark"
        self._log = structlog.get_logger()

    def run(self) -> None:
        """Serve until asked to stop; the batches under way are finished first."""
        with serve_health(
            self._listen,
            self._metrics.registry,
            self.find_obstacle,
            self.find_illness,
            self.find_remark,
        ) as address:
            topics = ",".join(worker.stream.topic for worker in self._workers)
            self._log.info("starting", http=address, topics=topics)
            self._heed_signals()
            try:
                self._claim()
                if not self._stop.is_set():
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
        spark = self._start_spark()
        # Again: pyspark puts a SIGINT handler of its own in place.
        self._heed_signals()
        try:
            if not self._stop.is_set():
                self._obstacle = None
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

    def find_remark(self) -> str | None:
        """What somebody should look at although all goes on."""
        said = [(worker.stream.cluster, worker.find_remark()) for worker in self._workers]
        return "; ".join(f"{cluster}: {remark}" for cluster, remark in said if remark) or None

    def find_illness(self) -> str | None:
        """Which cluster's query hangs; None: none does."""
        said = [(w.stream.cluster, w.find_illness()) for w in self._workers]
        return "; ".join(f"{cluster}: {illness}" for cluster, illness in said if illness) or None

    def _heed_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        self._obstacle = "stopping"
        self._stop.set()
        for worker in self._workers:
            worker.stop.set()

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
        for thread in threads:
            thread.join()

    def _sample_heap(self, spark: SparkSession) -> None:
        with suppress(Py4JError, OSError):  # the batches show when the JVM is gone
            jvm = spark.sparkContext._jvm
            assert jvm is not None
            runtime = jvm.java.lang.Runtime.getRuntime()
            self._metrics.heap_used_bytes.set(runtime.totalMemory() - runtime.freeMemory())
