"""cluster_state: the single znodes that speak of the whole cluster, and who has rights (metadata).

Their forms are as many as their kinds and their writes few, so the contract's decoders read them
all. ACLs and tokens come without their data; that it changed shows in data_hash.
"""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.payload import Payload
from delta_tables.table import PERSISTENT_ENDS, Column, Table

_VALUE = Payload(
    fields=(
        "id STRING, broker INT, block_start STRING, block_end STRING, status INT, "
        "features MAP<STRING, STRUCT<max_version_level: INT>>, kraft_controller_id INT, "
        "kraft_controller_epoch INT, kraft_metadata_offset BIGINT, kraft_metadata_epoch INT"
    ),
    is_plain_text_sql="false",
    empty_kinds=("producer_id_block", "broker_seqid"),
)

_IS_ACL = "kind IN ('acl', 'prefixed_acl')"


def _acl_part(index: int) -> str:
    """SQL: a part of an ACL's path; those of prefixed ones stand one level deeper."""
    place = f"{index} + IF(kind = 'prefixed_acl', 1, 0)"
    return f"IF({_IS_ACL}, get(split(path, '/'), {place}), NULL)"


CLUSTER_STATE = Table(
    name="cluster_state",
    grain="One row per state of one znode of the whole cluster: id, features, migration, ACLs.",
    folded="intervals",
    kinds=(
        "cluster_id",
        "feature",
        "migration",
        "producer_id_block",
        "broker_seqid",
        "acl",
        "prefixed_acl",
        "delegation_token",
    ),
    payload=_VALUE,
    columns=(
        CLUSTER,
        Column("path", "STRING", "the znode; a token's id is a keyed hash", "path", required=True),
        Column("name", "STRING", "kind of the znode: see docs/events.md", "kind", required=True),
        Column("cluster_id", "STRING", "id of the cluster (/cluster/id)", "payload.id"),
        Column(
            "block_broker_id",
            "INT",
            "broker that took the last block of producer ids (/latest_producer_id_block)",
            "payload.broker",
        ),
        Column(
            "block_start",
            "BIGINT",
            "first producer id of that block",
            "try_cast(payload.block_start AS BIGINT)",
        ),
        Column(
            "block_end",
            "BIGINT",
            "last producer id of that block",
            "try_cast(payload.block_end AS BIGINT)",
        ),
        Column("feature_status", "INT", "/feature: 0 disabled, 1 enabled", "payload.status"),
        Column(
            "features",
            "MAP<STRING, INT>",
            "/feature: finalised features and their max_version_level",
            "transform_values(payload.features, (name, levels) -> levels.max_version_level)",
        ),
        Column(
            "kraft_controller_id",
            "INT",
            "/migration: KRaft controller that copies the tree; -1: none yet",
            "payload.kraft_controller_id",
        ),
        Column(
            "kraft_controller_epoch",
            "INT",
            "/migration: its epoch",
            "payload.kraft_controller_epoch",
        ),
        Column(
            "kraft_metadata_offset",
            "BIGINT",
            "/migration: how far it came; -1: the copy is not complete",
            "payload.kraft_metadata_offset",
        ),
        Column(
            "kraft_metadata_epoch",
            "INT",
            "/migration: epoch of that offset",
            "payload.kraft_metadata_epoch",
        ),
        Column("resource_type", "STRING", "ACL: Topic, Group, Cluster, and so on", _acl_part(2)),
        Column("resource", "STRING", "ACL: name of the resource, or its prefix", _acl_part(3)),
        Column(
            "pattern_type",
            "STRING",
            "ACL: LITERAL, or PREFIXED for all names that begin so",
            f"IF({_IS_ACL}, IF(kind = 'acl', 'LITERAL', 'PREFIXED'), NULL)",
        ),
        Column(
            "data_hash",
            "STRING",
            "keyed hash of the true data, also where it is withheld: another hash, another value",
            "data_hash",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "path"),
    ends=PERSISTENT_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "151"},
)
