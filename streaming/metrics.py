"""What the stream counts for Prometheus. Other names than these are not exported."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from streaming.summary import Summary

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 30, 60, 300)


class StreamMetrics:
    """The stream's own registry: nothing of the process-wide default is in it."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._batches = Counter("zklake_stream_batches", "Batches folded.", registry=registry)
        self._events = Counter("zklake_stream_events", "Events folded.", registry=registry)
        self._quarantined = Counter(
            "zklake_stream_quarantined", "Records put in quarantine.", registry=registry
        )
        self._restarts = Counter(
            "zklake_stream_restarts", "Times the query was started again.", registry=registry
        )
        self._batch_seconds = Histogram(
            "zklake_stream_batch_seconds",
            "Time one batch took.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._freshness = Histogram(
            "zklake_stream_freshness_seconds",
            "From the watcher's sight of a batch's last event to its commit.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._seq = Gauge("zklake_stream_seq", "Last seq folded.", registry=registry)

    def count_batch(self, summary: Summary, seconds: float, now_ms: float) -> None:
        """Count one committed batch."""
        self._batches.inc()
        self._events.inc(summary.good)
        self._quarantined.inc(summary.bad)
        self._batch_seconds.observe(seconds)
        if summary.last_seq is not None and summary.observed_at_ms is not None:
            self._seq.set(summary.last_seq)
            self._freshness.observe(max(0.0, (now_ms - summary.observed_at_ms) / 1000))

    def count_restart(self) -> None:
        """Count one more start of the query."""
        self._restarts.inc()
