"""One cluster's stream in its thread: holds the lease, runs the query, waits out faults."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import structlog
from pyspark.sql import SparkSession

from streaming.batch import Batch
from streaming.lake.delta_logs import DeltaLogs
from streaming.lake.lease import STALE_S, Lease
from streaming.maintenance.upkeep import Upkeep
from streaming.metrics import ClusterMetrics, StreamMetrics
from streaming.patience import RetryPolicy
from streaming.query import Listener, Run, Stream
from streaming.trouble import NotWritable
from zklake.errors import LakeError, LogError, ZklakeError

STUCK_AFTER_S = 900.0


class Worker(Listener):
    """Folds one log until stopped; `obstacle` says what is in the way, `error` why it ended."""

    def __init__(
        self,
        stream: Stream,
        metrics: StreamMetrics,
        *,
        take_over: bool = False,
        lease_stale_s: float = STALE_S,
        stuck_after_s: float = STUCK_AFTER_S,
        upkeep: Upkeep | None = None,
    ) -> None:
        self.stream = stream
        self.stop = threading.Event()
        self.obstacle: str | None = "starting"
        self.error: ZklakeError | None = None
        self._metrics = ClusterMetrics(metrics, stream.cluster)
        self._log = structlog.get_logger().bind(cluster=stream.cluster)
        self._take_over, self._stuck_after_s = take_over, stuck_after_s
        self._lease = Lease(stream.lake, stream.cluster, lease_stale_s)
        self._delta_logs = DeltaLogs(stream.lake, stream.cluster)
        self._upkeep = upkeep
        self._patience = RetryPolicy()
        self._needs_batch = False
        self._behind = 0
        self._quarantined = 0

    def claim(self) -> None:
        """Try for the lease before Spark starts: a refusal must not take a minute."""
        if not self._lease.is_possible:
            self._log.info("no lease on an object store: Delta alone stops a second writer")
        try:
            self._hold_lease()
        except OSError:
            pass  # a lake that cannot be written yet is waited for
        except LakeError as error:
            self._end(error)

    def release(self) -> None:
        """Give the lease back."""
        self._lease.release()

    def run(self, spark: SparkSession) -> None:
        """Fold until stopped, or until something fails that no wait will mend."""
        # A pool each: a cluster that catches up does not starve the others.
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.stream.cluster)
        try:
            while not self.stop.is_set():
                self._try(spark)
        except ZklakeError as error:
            self._end(error)
        except Exception as error:  # a thread that dies in silence would look stopped in order
            self._end(ZklakeError(f"{type(error).__name__}: {error}"))
        finally:
            self._lease.release()

    def find_illness(self) -> str | None:
        """Whether the query hangs: the log has news, nothing is in the way, and no batch ends."""
        silent_s = time.monotonic() - self._metrics.batch_ended_at
        if self.obstacle is None and self._behind and silent_s > self._stuck_after_s:
            return f"no batch ended for {silent_s:.0f} s, and {self._behind} records wait"
        return None

    def find_remark(self) -> str | None:
        """What somebody should look at although the stream goes on."""
        if not self._quarantined:
            return None
        unfolded = ", ".join(f"seq {seq}: {why}" for seq, why in self._patience.unfoldable.items())
        count = f"{self._quarantined} record{'s' if self._quarantined > 1 else ''} in quarantine"
        remark = f"{count} since the start"
        return f"{remark}; could not be folded: {unfolded}" if unfolded else remark

    def _try(self, spark: SparkSession) -> None:
        limit = self._patience.limit(self.stream.max_records)
        stream = replace(self.stream, max_records=limit)
        run = Run(spark, stream, self.stop, self._patience.unfoldable)
        try:
            self._hold_lease()
            if not self.stop.is_set():
                run.run(self, once=False)
        except Exception as error:
            self._face(self.stream.explain(error), run.progress.seq)

    def _hold_lease(self) -> None:
        if not self._lease.is_held and self._lease.is_possible and self.obstacle == "starting":
            self._meet("looking whether another stream writes this lake")
        self._lease.acquire(self.stop, take_over=self._take_over, on_lost=self._end)

    def _end(self, error: ZklakeError) -> None:
        self.error = error
        self.stop.set()
        self._meet(f"stopped: {error}")
        self._log.error("stopped", reason=str(error))

    def _face(self, error: ZklakeError, seq: int) -> None:
        wait_s = self._patience.judge(error, seq)
        self._metrics.count_restart()
        # That Kafka answers is known before a query starts; that a batch succeeds only afterwards.
        self._needs_batch = not isinstance(error, LogError)
        if self._meet(_say(error)):
            self._log.warning("waiting", reason=str(error))
        self.stop.wait(wait_s)

    def _meet(self, obstacle: str | None) -> bool:
        is_news = obstacle != self.obstacle
        self.obstacle = obstacle
        self._metrics.show_ready(obstacle is None)
        return is_news

    def _be_ready(self) -> None:
        self._patience.forget()
        self._needs_batch = False
        if self._meet(None):
            self._log.info("ready")

    def on_start(self) -> None:
        """The query has started."""
        if not self._needs_batch:
            self._be_ready()

    def on_batch(self, batch: Batch, seconds: float) -> None:
        """A batch was folded and committed."""
        self._be_ready()
        if batch.quarantined:
            self._quarantined += batch.quarantined
            self._log.warning("quarantined", records=batch.quarantined)
        self._metrics.count_batch(batch, seconds, time.time() * 1000)
        self._log.debug("batch", events=batch.events, seconds=round(seconds, 3))

    def on_phase(self, phase: str, seconds: float) -> None:
        """A phase of a batch has ended."""
        self._metrics.count_phase(phase, seconds)

    def on_look(self, behind: int) -> None:
        """So many records of the log are not folded yet."""
        self._behind = behind
        self._metrics.show_behind(behind)
        for log in self._delta_logs.look():
            self._metrics.count_commits(log)

    def wants_pause(self) -> bool:
        """Whether the lake needs maintenance."""
        return self._upkeep is not None and self._upkeep.is_due()

    def on_pause(self) -> None:
        """Do one step of maintenance; what goes wrong with it must not end the query."""
        assert self._upkeep is not None
        try:
            outcome = self._upkeep.run_step()
        except OSError as error:  # of the answer to `zklake maintain`
            self._log.warning("maintenance", reason=str(error))
            return
        if outcome is not None:
            self._metrics.count_maintenance(outcome)
            write = self._log.warning if outcome.is_error else self._log.debug
            seconds = round(outcome.seconds, 3)
            write(
                "maintenance",
                table=outcome.table,
                action=outcome.action,
                says=outcome.says,
                seconds=seconds,
            )


def _say(error: ZklakeError) -> str:
    if isinstance(error, LogError):
        return "the log's Kafka does not answer"
    if isinstance(error, NotWritable):
        return f"the lake cannot be written: {error.reason}"
    return "a batch failed; trying again"
