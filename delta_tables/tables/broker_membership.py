"""broker_membership: who was a broker, when, and at which addresses."""

from __future__ import annotations

from delta_tables.intervals import INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.table import Column, Table, millis

BROKER_MEMBERSHIP = Table(
    name="broker_membership",
    grain="One row per state of one broker registration (/brokers/ids/[id]); a czxid is a life.",
    source="kind = 'broker'",
    # Registration versions 1 to 5; fields that a version lacks are null.
    payload=(
        "version INT, host STRING, port INT, jmx_port INT, timestamp STRING, "
        "endpoints ARRAY<STRING>, rack STRING, listener_security_protocol_map MAP<STRING, STRING>"
    ),
    columns=(
        Column("cluster", "STRING", "name of the watched cluster", "cluster", required=True),
        Column(
            "broker_id",
            "INT",
            "broker.id, from the znode's name",
            "try_cast(element_at(split(path, '/'), -1) AS INT)",
            required=True,
        ),
        Column(
            "endpoints",
            "ARRAY<STRING>",
            "listeners; version 1 has only a host and a port, read as Kafka reads them",
            "coalesce(payload.endpoints, CASE WHEN payload.host IS NOT NULL "
            "THEN array(concat('PLAINTEXT://', payload.host, ':', payload.port)) END)",
        ),
        Column(
            "host",
            "STRING",
            "host of the PLAINTEXT listener; null when there is none: see endpoints",
            "payload.host",
        ),
        Column(
            "port", "INT", "port of the PLAINTEXT listener; -1 when there is none", "payload.port"
        ),
        Column("rack", "STRING", "broker.rack; null when unset", "payload.rack"),
        Column("jmx_port", "INT", "JMX port; -1 when off", "payload.jmx_port"),
        Column(
            "registration_version", "INT", "version of the registration's JSON", "payload.version"
        ),
        Column(
            "listener_security_protocol_map",
            "MAP<STRING, STRING>",
            "security protocol of each listener name (version 4 and later)",
            "payload.listener_security_protocol_map",
        ),
        Column(
            "registered_at",
            "TIMESTAMP",
            "timestamp inside the registration: the broker's own clock",
            millis("try_cast(payload.timestamp AS BIGINT)"),
        ),
        Column(
            "session",
            "BIGINT",
            "ZooKeeper session that holds the registration (ephemeral_owner)",
            "stat.ephemeral_owner",
        ),
        Column(
            "broker_epoch",
            "BIGINT",
            "the broker's epoch since Kafka 2.2 (KIP-380): the czxid of its registration",
            "stat.czxid",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "broker_id"),
    ends=("deleted", "changed", "recreated", "unreadable", "resync"),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "97"},
)
