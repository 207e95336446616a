"""broker_membership: who was a broker, when, and at which addresses."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.payload import Payload, is_bad_millis
from delta_tables.table import ZNODE_ENDS, AsOf, Column, Table, millis

# Registration versions 1 to 5; fields that a version lacks are null.
_REGISTRATION = Payload(
    fields=(
        "host STRING, port INT, jmx_port INT, timestamp STRING, endpoints ARRAY<STRING>, "
        "rack STRING, listener_security_protocol_map MAP<STRING, STRING>, "
        "features MAP<STRING, MAP<STRING, INT>>"
    ),
    versions=(1, 2, 3, 4, 5),
    strings=("host", "rack", "timestamp"),
    string_lists=("endpoints", "listener_security_protocol_map"),
    is_malformed_sql=(
        "IF(payload.version = 1, payload.host IS NULL OR payload.port IS NULL, "
        "payload.endpoints IS NULL) "
        "OR payload.version >= 4 AND payload.listener_security_protocol_map IS NULL "
        f"OR {is_bad_millis('payload.timestamp')}"
    ),
)

BROKER_MEMBERSHIP = Table(
    name="broker_membership",
    grain="One row per state of one broker registration (/brokers/ids/[id]); a czxid is a life.",
    folded="intervals",
    kinds=("broker",),
    payload=_REGISTRATION,
    columns=(
        CLUSTER,
        Column(
            "broker_id",
            "INT",
            "broker.id, from the znode's name",
            "try_cast(get(split(path, '/'), 3) AS INT)",
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
            "port",
            "INT",
            "port of the PLAINTEXT listener; -1 when there is none",
            "IF(payload IS NULL, NULL, coalesce(payload.port, -1))",
        ),
        Column("rack", "STRING", "broker.rack; null when unset", "payload.rack"),
        Column(
            "jmx_port",
            "INT",
            "JMX port; -1 when off",
            "IF(payload IS NULL, NULL, coalesce(payload.jmx_port, -1))",
        ),
        Column(
            "registration_version",
            "INT",
            "version of the registration's JSON; 0 for the text of 0.7",
            "payload.version",
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
        SESSION,
        Column(
            "broker_epoch",
            "BIGINT",
            "the broker's epoch since Kafka 2.2 (KIP-380): the czxid of its registration",
            "stat.czxid",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "broker_id"),
    ends=(*ZNODE_ENDS, "migrated"),
    # A broker restarted in KRaft mode leaves ZooKeeper for good while it serves: no death.
    delete_sql="CASE WHEN kraft_controller_epoch > 0 THEN 'migrated' "
    "WHEN is_session_close THEN 'session_closed' ELSE 'deleted' END",
    as_of=(AsOf("controller", "kraft_controller_epoch", "kraft_controller_epoch", "INT"),),
    ephemeral_paths=("/brokers/ids/{broker_id}",),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "97"},
)
