"""The payload columns of each kind, from what the contract's decoders make of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.reference.fold.cluster_payloads import (
    CLUSTER_COLUMNS,
    CLUSTER_KINDS,
    cluster_columns_of,
)

Row = dict[str, Any]

# The last millisecond of the year 9999.
LAST_MS = 253402300799999


def timestamp(ms: int | None) -> int | None:
    """Epoch milliseconds that a timestamp column can hold."""
    return ms if ms is not None and 0 <= ms <= LAST_MS else None


def columns_of(kind: str, payload: Any, members: set[str]) -> Row:
    """All payload columns; `members` are the keys that the JSON really has."""
    return _COLUMNS_OF[kind](payload, members)


def _broker(broker: Any, members: set[str]) -> Row:
    endpoints: list[str] | None = list(broker.endpoints)
    if "endpoints" not in members:
        has_host = broker.host is not None
        endpoints = [f"PLAINTEXT://{broker.host}:{broker.port}"] if has_host else None
    has_map = "listener_security_protocol_map" in members
    return {
        "endpoints": endpoints,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "jmx_port": broker.jmx_port,
        "registration_version": broker.version,
        "listener_security_protocol_map": (
            dict(broker.listener_security_protocol_map) if has_map else None
        ),
        "registered_at": timestamp(broker.timestamp_ms),
    }


def _topic(topic: Any, members: set[str]) -> Row:
    moves = {
        name: _replicas(getattr(topic, name)) if name in members else None
        for name in ("adding_replicas", "removing_replicas")
    }
    return {
        "topic_id": topic.topic_id,
        "partition_count": len(topic.partitions),
        "replicas": _replicas(topic.partitions),
        "assignment_version": topic.version,
        **moves,
    }


def _replicas(assigned: dict[int, tuple[int, ...]]) -> dict[int, list[int]]:
    return {partition: list(brokers) for partition, brokers in assigned.items()}


def _topic_broker(topic: Any, members: set[str]) -> Row:
    nothing: Row = dict.fromkeys(COLUMNS["topic"])
    return {**nothing, "partition_count": topic.partition_count, "assignment_version": 0}


def _partition_state(state: Any, members: set[str]) -> Row:
    return {
        "leader": state.leader,
        "isr": list(state.isr),
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
        "leader_recovery_state": state.leader_recovery_state,
    }


def _consumer(consumer: Any, members: set[str]) -> Row:
    return {
        "pattern": consumer.pattern,
        "subscription": dict(consumer.subscription),
        "registered_at": timestamp(consumer.timestamp_ms),
        "registration_version": consumer.version,
    }


def _owner(owner: Any, members: set[str]) -> Row:
    return {
        "owner": owner.thread_id,
        "owner_member_id": owner.member_id,
        "owner_stream": owner.stream,
    }


def _offset(offset: Any, members: set[str]) -> Row:
    return {"committed_offset": offset.offset}


def _controller(controller: Any, members: set[str]) -> Row:
    return {
        "controller_id": controller.controller_id,
        "kraft_controller_epoch": controller.kraft_controller_epoch,
        "registered_at": timestamp(controller.timestamp_ms),
    }


def _controller_epoch(epoch: Any, members: set[str]) -> Row:
    return {"controller_epoch": epoch.controller_epoch}


_TOPIC = [
    "topic_id",
    "partition_count",
    "replicas",
    "adding_replicas",
    "removing_replicas",
    "assignment_version",
]
COLUMNS: dict[str, list[str]] = {
    "broker": [
        "endpoints",
        "host",
        "port",
        "rack",
        "jmx_port",
        "registration_version",
        "listener_security_protocol_map",
        "registered_at",
    ],
    "partition_state": [
        "leader",
        "isr",
        "leader_epoch",
        "controller_epoch",
        "leader_recovery_state",
    ],
    "consumer": ["pattern", "subscription", "registered_at", "registration_version"],
    "owner": ["owner", "owner_member_id", "owner_stream"],
    "controller": ["controller_id", "kraft_controller_epoch", "registered_at"],
    "controller_epoch": ["controller_epoch"],
    "topic": _TOPIC,
    "topic_broker": _TOPIC,
    "offset": ["committed_offset"],
    **dict.fromkeys(CLUSTER_KINDS, CLUSTER_COLUMNS),
}
_COLUMNS_OF: dict[str, Callable[[Any, set[str]], Row]] = {
    "broker": _broker,
    "topic": _topic,
    "topic_broker": _topic_broker,
    "partition_state": _partition_state,
    "consumer": _consumer,
    "owner": _owner,
    "controller": _controller,
    "controller_epoch": _controller_epoch,
    "offset": _offset,
    **dict.fromkeys(CLUSTER_KINDS, cluster_columns_of),
}
