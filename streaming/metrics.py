"""What the stream counts for Prometheus. Other names than these are not exported."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zklake.metrics import Metrics, counter, gauge, histogram

if TYPE_CHECKING:
    # What is counted is no reason to load Spark: tests read the names without it.
    from streaming.batch import Batch
    from streaming.lake.delta_logs import TableLog
    from streaming.maintenance.upkeep import Outcome

_CLUSTER, _TABLE = ("cluster",), ("cluster", "table")
_SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 30, 60, 300)


class StreamMetrics(Metrics):
    """All streams of this process, by cluster."""

    PREFIX = "zklake_stream"

    batches = counter("Batches folded.", *_CLUSTER)
    events = counter("Events folded.", *_CLUSTER)
    quarantined = counter("Records put in quarantine.", *_CLUSTER)
    restarts = counter("Times the query had to be started again.", *_CLUSTER)
    batch_seconds = histogram("Time one batch took.", *_CLUSTER, buckets=_SECONDS)
    phase_seconds = histogram(
        "Time one phase of a batch took; a table's name is its fold and commit.",
        *_CLUSTER,
        "phase",
        buckets=_SECONDS,
    )
    freshness_seconds = histogram(
        "From the watcher's sight of a batch's last event to its commit.",
        *_CLUSTER,
        buckets=_SECONDS,
    )
    seq = gauge("Last seq folded.", *_CLUSTER)
    ready = gauge("1 while nothing is in the way.", *_CLUSTER)
    records_behind = gauge(
        "Records of the log not folded yet, transaction markers included.", *_CLUSTER
    )
    seconds_since_batch = gauge("Time since the last batch ended.", *_CLUSTER)
    commits = counter("Delta commits since the start (of a lake on disk).", *_TABLE)
    rows = counter("Rows written, open rows that were written again included.", *_TABLE)
    log_files = gauge("Files in _delta_log.", *_TABLE)
    files = gauge("Data files of the newest version, as of the last look of maintenance.", *_TABLE)
    bytes = gauge("Bytes in them.", *_TABLE)
    maintenance_seconds = histogram(
        "Time one step of maintenance took; no batch runs meanwhile.",
        *_CLUSTER,
        "action",
        buckets=_SECONDS,
    )
    maintenance_failures = counter(
        "Steps of maintenance that failed; each is tried again at the next look.", *_CLUSTER
    )
    heap_used_bytes = gauge("Heap in use in the driver's JVM.")


class ClusterMetrics:
    """The metrics of one cluster's stream."""

    def __init__(self, metrics: StreamMetrics, cluster: str) -> None:
        self._all, self._cluster = metrics, cluster
        self.batch_ended_at = time.monotonic()
        metrics.seconds_since_batch.labels(cluster).set_function(
            lambda: time.monotonic() - self.batch_ended_at
        )
        for metric in (
            metrics.batches,
            metrics.events,
            metrics.quarantined,
            metrics.restarts,
            metrics.maintenance_failures,
        ):
            metric.labels(cluster)  # shown from the start, as 0

    def count_batch(self, batch: Batch, seconds: float, now_ms: float) -> None:
        """Count one committed batch."""
        cluster, metrics = self._cluster, self._all
        self.batch_ended_at = time.monotonic()
        metrics.batches.labels(cluster).inc()
        metrics.events.labels(cluster).inc(batch.events)
        metrics.quarantined.labels(cluster).inc(batch.quarantined)
        metrics.batch_seconds.labels(cluster).observe(seconds)
        if batch.last_seq is not None and batch.observed_at_ms is not None:
            metrics.seq.labels(cluster).set(batch.last_seq)
            age_s = (now_ms - batch.observed_at_ms) / 1000
            metrics.freshness_seconds.labels(cluster).observe(max(0.0, age_s))

    def count_phase(self, phase: str, seconds: float) -> None:
        """Count one phase of a batch."""
        self._all.phase_seconds.labels(self._cluster, phase).observe(seconds)

    def count_restart(self) -> None:
        """Count one more start of the query."""
        self._all.restarts.labels(self._cluster).inc()

    def count_commits(self, log: TableLog) -> None:
        """Count what a look at a table's log found."""
        labels = (self._cluster, log.table)
        self._all.commits.labels(*labels).inc(log.commits)
        self._all.rows.labels(*labels).inc(log.rows)
        self._all.log_files.labels(*labels).set(log.files)

    def count_maintenance(self, outcome: Outcome) -> None:
        """Count one step of maintenance, or show what a look at a table saw."""
        labels = (self._cluster, outcome.table)
        self._all.maintenance_seconds.labels(self._cluster, outcome.action).observe(outcome.seconds)
        if outcome.is_error:
            self._all.maintenance_failures.labels(self._cluster).inc()
        if outcome.look is not None:
            self._all.files.labels(*labels).set(sum(p.files for p in outcome.look.parts))
            self._all.bytes.labels(*labels).set(sum(p.bytes for p in outcome.look.parts))

    def show_behind(self, records: int) -> None:
        """Show how far the lake is behind the log."""
        self._all.records_behind.labels(self._cluster).set(records)

    def show_ready(self, is_ready: bool) -> None:
        """Show whether anything is in the way."""
        self._all.ready.labels(self._cluster).set(is_ready)
