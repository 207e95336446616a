"""The cluster and its brokers as they are now, read from the lake."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from dashboard.lives import list_lives
from dashboard.pages.topics import list_topics
from delta_tables.live.tables import Row, Tables

READS = (
    "broker_membership",
    "controller",
    "topics",
    "partition_state",
    "admin_operations",
    "log_ends",
    "cluster_state",
    "config_history",
    "log_gaps",
    "quarantine",
)

_CONTROLLER = "SELECT controller_id, controller_epoch FROM controller WHERE is_open"
_CHANGES = "SELECT count(*) AS changes FROM controller_changes"
_CLUSTER_ID = "SELECT cluster_id FROM cluster_state WHERE is_open AND name = 'cluster_id'"
_GAPS = "SELECT count(*) AS gaps, count(*) FILTER (WHERE is_open) AS open_gaps FROM log_gaps"
_QUARANTINED = "SELECT count(*) AS quarantined FROM quarantine"


class Cluster(NamedTuple):
    """What there is one of; None: no table says."""

    brokers: int | None
    controller_id: int | None
    controller_epoch: int | None
    controller_changes: int | None
    cluster_id: str | None
    topics: int | None
    partitions: int | None
    offline: int | None
    under_replicated: int | None
    not_preferred: int | None
    gaps: int | None
    open_gaps: int | None
    quarantined: int | None


class Broker(NamedTuple):
    """A broker that was there some time; left_at is None while it is."""

    broker_id: int
    left_at: datetime | None
    sessions: int
    host: str
    port: str
    rack: str
    is_controller: bool


def read_cluster(tables: Tables) -> Cluster:
    """The numbers of the whole cluster, whatever topics are shown."""
    topics = list_topics(tables) if tables.has("topics") else None
    gaps = _read_one(tables, _GAPS, "log_gaps")
    controller = _read_one(tables, _CONTROLLER, "controller")
    lives = list_lives(tables) if tables.has("broker_membership") else None
    return Cluster(
        brokers=None if lives is None else sum(life["left_at"] is None for life in lives),
        controller_id=controller.get("controller_id"),
        controller_epoch=controller.get("controller_epoch"),
        controller_changes=_read_one(tables, _CHANGES, "controller_changes").get("changes"),
        cluster_id=_read_one(tables, _CLUSTER_ID, "cluster_state").get("cluster_id"),
        topics=None if topics is None else len(topics),
        partitions=_add(topics, "partition_count"),
        offline=_add(topics, "offline"),
        under_replicated=_add(topics, "under_replicated"),
        not_preferred=_add(topics, "not_preferred"),
        gaps=gaps.get("gaps"),
        open_gaps=gaps.get("open_gaps"),
        quarantined=_read_one(tables, _QUARANTINED, "quarantine").get("quarantined"),
    )


def list_brokers(tables: Tables) -> list[Broker]:
    """Every broker that was ever there, by id; the address is the last one."""
    now = _read_one(tables, _CONTROLLER, "controller").get("controller_id")
    lives: dict[int, list[Row]] = {}
    for life in list_lives(tables):
        lives.setdefault(life["broker_id"], []).append(life)
    return [
        _describe(broker_id, mine, is_controller=broker_id == now)
        for broker_id, mine in lives.items()
    ]


def _describe(broker_id: int, lives: list[Row], *, is_controller: bool) -> Broker:
    last = lives[-1]
    endpoint = next(iter(last["endpoints"] or ()), "").rpartition("//")[2]
    host, _, port = endpoint.rpartition(":")
    return Broker(
        broker_id, last["left_at"], len(lives), host, port, last["rack"] or "", is_controller
    )


def _read_one(tables: Tables, sql: str, name: str) -> Row:
    return next(iter(tables.query(sql, name)), {})


def _add(rows: list[Row] | None, column: str) -> int | None:
    return None if rows is None else sum(row[column] or 0 for row in rows)
