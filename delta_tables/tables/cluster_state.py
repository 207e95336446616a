"""cluster_state: the single znodes that speak of the whole cluster, and who has rights (metadata).

ACLs and tokens come without their data; that it changed shows in data_hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.observation import Observation, Read, of_event, of_payload
from delta_tables.table import PERSISTENT_ENDS, Column, Table

_PATTERN_TYPES = {"acl": "LITERAL", "prefixed_acl": "PREFIXED"}


def _of_acl(place: int) -> Read:
    """A part of an ACL's path, from its end: those of prefixed ones stand one level deeper."""
    return lambda seen: seen.parts[place] if seen.event.kind in _PATTERN_TYPES else None


def _read_number(name: str) -> Read:
    """A decimal that Kafka writes as a string."""

    def read(seen: Observation) -> int | None:
        text = getattr(seen.payload, name, None)
        return None if text is None else int(text)

    return read


def _read_levels(seen: Observation) -> dict[str, int | None] | None:
    features = getattr(seen.payload, "features", None)
    if features is None:
        return None
    return {name: levels.get("max_version_level") for name, levels in features.items()}


def _is_progress(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A KRaft controller writes twice a second how far its copy came; and nothing else changed."""
    offsets = (before["kraft_metadata_offset"], after["kraft_metadata_offset"])
    if before["name"] != "migration" or None in offsets or min(offsets) < 0:
        return False
    moving = ("kraft_metadata_offset", "data_hash")
    return all(after[name] == value for name, value in before.items() if name not in moving)


CLUSTER_STATE = Table(
    name="cluster_state",
    grain="One row per state of one znode of the whole cluster: id, features, migration (a row a "
    "minute while only its offset moves), ACLs.",
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
    columns=(
        CLUSTER,
        Column(
            "path",
            "STRING",
            "the znode; a token's id is a keyed hash",
            of_event("path"),
            required=True,
        ),
        Column(
            "name",
            "STRING",
            "kind of the znode: see docs/events.md",
            of_event("kind"),
            required=True,
        ),
        Column("cluster_id", "STRING", "id of the cluster (/cluster/id)", of_payload("id")),
        Column(
            "block_broker_id",
            "INT",
            "broker that took the last block of producer ids (/latest_producer_id_block)",
            of_payload("broker"),
        ),
        Column(
            "block_start",
            "BIGINT",
            "first producer id of that block",
            _read_number("block_start"),
        ),
        Column(
            "block_end",
            "BIGINT",
            "last producer id of that block",
            _read_number("block_end"),
        ),
        Column("feature_status", "INT", "/feature: 0 disabled, 1 enabled", of_payload("status")),
        Column(
            "features",
            "MAP<STRING, INT>",
            "/feature: finalised features and their max_version_level",
            _read_levels,
        ),
        Column(
            "kraft_controller_id",
            "INT",
            "/migration: KRaft controller that copies the tree; -1: none yet",
            of_payload("kraft_controller_id"),
        ),
        Column(
            "kraft_controller_epoch",
            "INT",
            "/migration: its epoch",
            of_payload("kraft_controller_epoch"),
        ),
        Column(
            "kraft_metadata_offset",
            "BIGINT",
            "/migration: how far it came when the row began; -1: the copy is not complete",
            of_payload("kraft_metadata_offset"),
        ),
        Column(
            "kraft_metadata_epoch",
            "INT",
            "/migration: epoch of that offset",
            of_payload("kraft_metadata_epoch"),
        ),
        Column("resource_type", "STRING", "ACL: Topic, Group, Cluster, and so on", _of_acl(-2)),
        Column("resource", "STRING", "ACL: name of the resource, or its prefix", _of_acl(-1)),
        Column(
            "pattern_type",
            "STRING",
            "ACL: LITERAL, or PREFIXED for all names that begin so",
            lambda seen: _PATTERN_TYPES.get(seen.event.kind or ""),
        ),
        Column(
            "data_hash",
            "STRING",
            "keyed hash of the true data, also where it is withheld: another hash, another value",
            of_event("data_hash"),
        ),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "path"),
    ends=PERSISTENT_ENDS,
    is_progress=_is_progress,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "151"},
)
