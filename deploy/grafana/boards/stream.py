"""The sections of the stream and of its lake in the pipeline's dashboard."""

from __future__ import annotations

from deploy.grafana.boards.choices import CLUSTER as C
from deploy.grafana.boards.choices import GOOD, quantile
from deploy.grafana.panels import Query, Section, band, draw

STREAM = Section(
    "Stream",
    (
        band(
            "Ready",
            "If not, its /readyz says what is in the way.",
            Query(f"zklake_stream_ready{{{C}}}", "{{instance}}"),
            words=GOOD,
            width=8,
        ),
        draw(
            "Records behind the log",
            "Not folded yet.",
            Query(f"zklake_stream_records_behind{{{C}}}", "records"),
            width=8,
        ),
        draw(
            "Freshness",
            "From the watcher's sight of an event to its commit in the lake.",
            Query(quantile(0.5, "zklake_stream_freshness_seconds"), "median"),
            Query(quantile(0.99, "zklake_stream_freshness_seconds"), "99 %"),
            unit="s",
            width=8,
        ),
        draw(
            "Time of a batch, by phase",
            "A table's name is its fold and commit.",
            Query(
                f"rate(zklake_stream_phase_seconds_sum{{{C}}}[5m])"
                f" / rate(zklake_stream_phase_seconds_count{{{C}}}[5m])",
                "{{phase}}",
            ),
            unit="s",
            width=8,
        ),
        draw(
            "Folded per second",
            "Events, and batches.",
            Query(f"rate(zklake_stream_events_total{{{C}}}[5m])", "events"),
            Query(f"rate(zklake_stream_batches_total{{{C}}}[5m])", "batches"),
            unit="cps",
            width=8,
        ),
        draw(
            "Trouble per hour",
            "Records in quarantine, restarts of the query, failed steps of maintenance.",
            Query(f"increase(zklake_stream_quarantined_total{{{C}}}[1h])", "quarantined"),
            Query(f"increase(zklake_stream_restarts_total{{{C}}}[1h])", "restarts"),
            Query(f"increase(zklake_stream_maintenance_failures_total{{{C}}}[1h])", "maintenance"),
            width=8,
        ),
    ),
)

LAKE = Section(
    "Lake",
    (
        draw(
            "Bytes of the newest version",
            "As of the last look of maintenance.",
            Query(f"zklake_stream_bytes{{{C}}}", "{{table}}"),
            unit="bytes",
            width=8,
        ),
        draw(
            "Files in _delta_log",
            "Every commit lists them: thousands make it slow.",
            Query(f"zklake_stream_log_files{{{C}}}", "{{table}}"),
            width=8,
        ),
        draw(
            "Heap of the driver",
            "stream.driver_memory is its limit; one JVM folds all clusters of a stream.",
            Query("zklake_stream_heap_used_bytes", "{{instance}}"),
            unit="bytes",
            width=8,
        ),
    ),
)
