"""What the stream counts for Prometheus. Other names than these are not exported."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from streaming.batch import Batch
from streaming.lake.delta_logs import TableLog
from streaming.maintenance.upkeep import Outcome

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 30, 60, 300)


class StreamMetrics:
    """The stream's own registry: nothing of the process-wide default is in it."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        of, of_table = ("cluster",), ("cluster", "table")
        self.batches = Counter("zklake_stream_batches", "Batches folded.", of, registry=registry)
        self.events = Counter("zklake_stream_events", "Events folded.", of, registry=registry)
        self.quarantined = Counter(
            "zklake_stream_quarantined", "Records put in quarantine.", of, registry=registry
        )
        self.restarts = Counter(
            "zklake_stream_restarts",
            "Times the query had to be started again.",
            of,
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "zklake_stream_batch_seconds",
            "Time one batch took.",
            of,
            buckets=_SECONDS,
            registry=registry,
        )
        self.phase_seconds = Histogram(
            "zklake_stream_phase_seconds",
            "Time one phase of a batch took.",
            ("cluster", "phase"),
            buckets=_SECONDS,
            registry=registry,
        )
        self.freshness = Histogram(
            "zklake_stream_freshness_seconds",
            "From the watcher's sight of a batch's last event to its commit.",
            of,
            buckets=_SECONDS,
            registry=registry,
        )
        self.seq = Gauge("zklake_stream_seq", "Last seq folded.", of, registry=registry)
        self.ready = Gauge(
            "zklake_stream_ready", "1 while nothing is in the way.", of, registry=registry
        )
        self.behind = Gauge(
            "zklake_stream_records_behind",
            "Records of the log not folded yet.",
            of,
            registry=registry,
        )
        self.since_batch = Gauge(
            "zklake_stream_seconds_since_batch",
            "Time since the last batch ended.",
            of,
            registry=registry,
        )
        self.commits = Counter(
            "zklake_stream_commits", "Delta commits.", of_table, registry=registry
        )
        self.rows = Counter(
            "zklake_stream_rows", "Rows written, rewritten ones too.", of_table, registry=registry
        )
        self.log_files = Gauge(
            "zklake_stream_log_files", "Files in _delta_log.", of_table, registry=registry
        )
        self.files = Gauge(
            "zklake_stream_files", "Data files of the newest version.", of_table, registry=registry
        )
        self.bytes = Gauge("zklake_stream_bytes", "Bytes in them.", of_table, registry=registry)
        self.maintenance_seconds = Histogram(
            "zklake_stream_maintenance_seconds",
            "Time one step of maintenance took.",
            ("cluster", "action"),
            buckets=_SECONDS,
            registry=registry,
        )
        self.maintenance_failures = Counter(
            "zklake_stream_maintenance_failures",
            "Steps of maintenance that failed.",
            of,
            registry=registry,
        )
        self.heap = Gauge(
            "zklake_stream_heap_used_bytes", "Heap in use in the driver's JVM.", registry=registry
        )


class ClusterMetrics:
    """The metrics of one cluster's stream."""

    def __init__(self, metrics: StreamMetrics, cluster: str) -> None:
        self._all, self._cluster = metrics, cluster
        self.batch_ended_at = time.monotonic()
        metrics.since_batch.labels(cluster).set_function(
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
            metrics.freshness.labels(cluster).observe(max(0.0, age_s))

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
        self._all.behind.labels(self._cluster).set(records)

    def show_ready(self, is_ready: bool) -> None:
        """Show whether anything is in the way."""
        self._all.ready.labels(self._cluster).set(is_ready)
