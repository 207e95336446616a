"""broker_membership: who was a broker, when, and at which addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from delta_tables.intervals import (
    CLUSTER,
    EXIT_COLUMNS,
    INTERVAL_COLUMNS,
    PARTITION_BY,
    SESSION,
)
from delta_tables.observation import (
    Observation,
    number_of_path,
    of_payload,
    of_stat,
    read_timestamp,
)
from delta_tables.table import ZNODE_ENDS, AsOf, Column, EndedBy, Table, name_delete
from zklake.events.payloads.broker import Broker


def _read_endpoints(seen: Observation) -> list[str] | None:
    """Version 1 and 0.7's text have only a host and a port, read as Kafka reads them."""
    broker = seen.payload
    if not isinstance(broker, Broker):
        return None
    if broker.endpoints or broker.version >= 2:
        return [*broker.endpoints]
    return None if broker.host is None else [f"PLAINTEXT://{broker.host}:{broker.port}"]


def _read_protocols(seen: Observation) -> dict[str, str] | None:
    """Absent before version 4 is not the same as empty."""
    broker = seen.payload
    if not isinstance(broker, Broker):
        return None
    is_there = broker.listener_security_protocol_map or broker.version >= 4
    return broker.listener_security_protocol_map if is_there else None


def _name_delete(closes_session: bool, inputs: Mapping[str, Any]) -> EndedBy:
    """A broker restarted in KRaft mode leaves ZooKeeper for good while it serves: no death."""
    is_kraft = (inputs["kraft_controller_epoch"] or 0) > 0
    return "migrated" if is_kraft else name_delete(closes_session, inputs)


BROKER_MEMBERSHIP = Table(
    name="broker_membership",
    grain="One row per state of one broker registration (/brokers/ids/[id], named by its czxid).",
    folded="intervals",
    kinds=("broker",),
    columns=(
        CLUSTER,
        Column(
            "broker_id",
            "INT",
            "broker.id, from the znode's name",
            number_of_path(3),
            required=True,
        ),
        Column(
            "endpoints",
            "ARRAY<STRING>",
            "listeners; version 1 has only a host and a port, read as Kafka reads them",
            _read_endpoints,
        ),
        Column(
            "host",
            "STRING",
            "host of the PLAINTEXT listener; null when there is none: see endpoints",
            of_payload("host"),
        ),
        Column(
            "port",
            "INT",
            "port of the PLAINTEXT listener; -1 when there is none",
            of_payload("port"),
        ),
        Column("rack", "STRING", "broker.rack; null when unset", of_payload("rack")),
        Column(
            "jmx_port",
            "INT",
            "JMX port; -1 when off",
            of_payload("jmx_port"),
        ),
        Column(
            "registration_version",
            "INT",
            "version of the registration's JSON; 0 for the text of 0.7",
            of_payload("version"),
        ),
        Column(
            "listener_security_protocol_map",
            "MAP<STRING, STRING>",
            "security protocol of each listener name (version 4 and later)",
            _read_protocols,
        ),
        Column(
            "registered_at",
            "TIMESTAMP",
            "timestamp inside the registration: the broker's own clock",
            read_timestamp,
        ),
        SESSION,
        Column(
            "broker_epoch",
            "BIGINT",
            "the broker's epoch since Kafka 2.2 (KIP-380): the czxid of its registration",
            of_stat("czxid"),
        ),
        *EXIT_COLUMNS,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "broker_id"),
    ends=(*ZNODE_ENDS, "migrated"),
    name_delete=_name_delete,
    as_of=(AsOf("controller", "kraft_controller_epoch"),),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "97"},
)
