"""Our own names for the cluster, and for the pipeline that watches it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dashboard.metrics.cluster import Broker, Cluster
from dashboard.metrics.family import Family, Shape
from dashboard.pulse import ProcessHealth, Pulse

_C = "cluster"
CLUSTER = Shape[Cluster]("cluster", (), lambda one: (), _C)
SEEN_BROKER = Shape[Broker]("seen_broker", ("broker_id",), lambda one: (one.broker_id,), _C)
PULSE = Shape[Pulse]("pulse", (), lambda one: (), _C)
PART = Shape[ProcessHealth]("part", ("part",), lambda one: (one.name,), _C)
LEFT_OUT_OF = Shape[tuple[str, int]]("left_out", ("set",), lambda one: (one[0],), _C)


def _to_seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


ABOUT_CLUSTER: tuple[Family[Any], ...] = (
    Family("zklake_brokers", "Brokers that are registered", CLUSTER, lambda one: one.brokers),
    Family(
        "zklake_broker_up",
        "Whether a broker is registered (1) or has left in the last 30 days (0)",
        SEEN_BROKER,
        lambda one: one.left_at is None,
    ),
    Family(
        "zklake_broker_sessions_total",
        "How often the broker registered since the lake began",
        SEEN_BROKER,
        lambda one: one.sessions,
        is_counter=True,
    ),
    Family(
        "zklake_controller_id",
        "The broker that is the controller; no sample while there is none",
        CLUSTER,
        lambda one: one.controller_id,
    ),
    Family(
        "zklake_controller_epoch",
        "Epoch of the controller",
        CLUSTER,
        lambda one: one.controller_epoch,
    ),
    Family(
        "zklake_controller_changes_total",
        "Changes of the controller since the lake began",
        CLUSTER,
        lambda one: one.controller_changes,
        is_counter=True,
    ),
    Family("zklake_topics", "Topics of the cluster", CLUSTER, lambda one: one.topics),
    Family("zklake_partitions", "Partitions of the cluster", CLUSTER, lambda one: one.partitions),
    Family(
        "zklake_offline_partitions",
        "Partitions without a live leader, except those of topics being deleted",
        CLUSTER,
        lambda one: one.offline,
    ),
    Family(
        "zklake_under_replicated_partitions",
        "Partitions with fewer replicas in sync than assigned",
        CLUSTER,
        lambda one: one.under_replicated,
    ),
    Family(
        "zklake_not_preferred_partitions",
        "Partitions not led by their preferred replica",
        CLUSTER,
        lambda one: one.not_preferred,
    ),
)
PIPELINE: tuple[Family[Any], ...] = (
    Family(
        "zklake_lake_watermark_timestamp_seconds",
        "Time of the last event in the lake",
        PULSE,
        lambda one: _to_seconds(one.watermark_at),
    ),
    Family(
        "zklake_lake_stale",
        "Whether the last event is older than dashboard.stale_after_s (1)",
        PULSE,
        lambda one: one.is_stale,
    ),
    Family(
        "zklake_sampled_timestamp_seconds",
        "Time of the last sampling round that returned log ends",
        PULSE,
        lambda one: _to_seconds(one.sampled_at),
    ),
    Family(
        "zklake_part_up",
        "Whether a part of the pipeline is ready (1), by its health address",
        PART,
        lambda one: one.state == "up",
    ),
    Family(
        "zklake_open_gaps",
        "Coverage gaps that are open: changes can pass unseen",
        CLUSTER,
        lambda one: one.open_gaps,
    ),
    Family(
        "zklake_gaps_total",
        "Coverage gaps since the lake began",
        CLUSTER,
        lambda one: one.gaps,
        is_counter=True,
    ),
    Family(
        "zklake_quarantined_records_total",
        "Records of the log that could not be applied",
        CLUSTER,
        lambda one: one.quarantined,
        is_counter=True,
    ),
)
# Told with every set.
LEFT_OUT = Family(
    "zklake_metrics_left_out",
    "Series that a set would have beyond metrics.most_series",
    LEFT_OUT_OF,
    lambda one: one[1],
)
