"""The watcher's section of the pipeline's dashboard. Its `cluster` comes from the scrape job."""

from __future__ import annotations

from deploy.grafana.boards.choices import CLUSTER as C
from deploy.grafana.boards.choices import GOOD, NEITHER, quantile
from deploy.grafana.panels import Query, Section, band, draw

WATCHER = Section(
    "Watcher",
    (
        band(
            "In sync",
            "One of them must be; a standby is not.",
            Query(f"zklake_watcher_in_sync{{{C}}}", "{{instance}}"),
            words=GOOD,
            width=8,
        ),
        band(
            "Connected",
            "To ZooKeeper, and to the Kafka that holds the log.",
            Query(f"zklake_watcher_zookeeper_connected{{{C}}}", "ZooKeeper {{instance}}"),
            Query(f"zklake_watcher_log_connected{{{C}}}", "log {{instance}}"),
            words=GOOD,
            width=8,
        ),
        band(
            "Standby",
            "It takes over after watcher.takeover_after_ms without a heartbeat.",
            Query(f"zklake_watcher_is_standby{{{C}}}", "{{instance}}"),
            words=NEITHER,
            width=8,
        ),
        draw(
            "Since the last heartbeat",
            "They come each second.",
            Query(
                f"time() - max by (cluster) (zklake_watcher_last_heartbeat_seconds{{{C}}})", "age"
            ),
            unit="s",
            width=8,
        ),
        draw(
            "Events per second",
            "By what happened to the znode.",
            Query(f"sum by (op) (rate(zklake_watcher_events_total{{{C}}}[5m]))", "{{op}}"),
            unit="cps",
            width=8,
        ),
        draw(
            "From event to log",
            "Time from a watch event to its commit in Kafka.",
            Query(quantile(0.5, "zklake_watcher_commit_seconds"), "median"),
            Query(quantile(0.99, "zklake_watcher_commit_seconds"), "99 %"),
            unit="s",
            width=8,
        ),
        draw(
            "Gaps declared per hour",
            "By reason: docs/events.md says what each means.",
            Query(
                f"sum by (reason) (increase(zklake_watcher_gaps_total{{{C}}}[1h]))", "{{reason}}"
            ),
            width=8,
        ),
        draw(
            "Bytes that wait",
            "Events for Kafka, messages for the core.",
            Query(f"zklake_watcher_buffer_bytes{{{C}}}", "buffer {{instance}}"),
            Query(f"zklake_watcher_inbox_bytes{{{C}}}", "inbox {{instance}}"),
            unit="bytes",
            width=8,
        ),
        draw(
            "Reads in flight",
            "Sent to ZooKeeper and not answered; watcher.reads_in_flight is their limit.",
            Query(f"zklake_watcher_reads_in_flight{{{C}}}", "{{instance}}"),
            width=8,
        ),
        draw(
            "Time of a sampling round",
            "It should stay below watcher.sample_interval_s.",
            Query(f"zklake_watcher_sample_round_seconds{{{C}}}", "{{instance}}"),
            unit="s",
            width=8,
        ),
        draw(
            "Sampling that failed, per hour",
            "Brokers that did not answer; rounds that the log's Kafka left no room for.",
            Query(f"increase(zklake_watcher_sample_broker_failures_total{{{C}}}[1h])", "brokers"),
            Query(f"increase(zklake_watcher_sample_rounds_skipped_total{{{C}}}[1h])", "skipped"),
            width=8,
        ),
        draw(
            "Znodes",
            "In the model, and those that may not be read.",
            Query(f"zklake_watcher_znodes{{{C}}}", "znodes"),
            Query(f"zklake_watcher_unreadable_znodes{{{C}}}", "unreadable"),
            width=8,
        ),
    ),
)
