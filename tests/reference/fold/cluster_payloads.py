"""The payload columns of cluster_state: a few single znodes, each with columns of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zklake.events.payloads.cluster import ClusterId, Features, Migration, ProducerIdBlock

Row = dict[str, Any]

CLUSTER_KINDS = (
    "cluster_id",
    "feature",
    "migration",
    "producer_id_block",
    "broker_seqid",
    "acl",
    "prefixed_acl",
    "delegation_token",
)
_MIGRATION = [
    "kraft_controller_id",
    "kraft_controller_epoch",
    "kraft_metadata_offset",
    "kraft_metadata_epoch",
]
CLUSTER_COLUMNS = [
    "cluster_id",
    "block_broker_id",
    "block_start",
    "block_end",
    "feature_status",
    "features",
    *_MIGRATION,
]


def cluster_columns_of(payload: Any, members: set[str]) -> Row:
    """All payload columns; of rights and tokens none shows anything."""
    nothing: Row = dict.fromkeys(CLUSTER_COLUMNS)
    says = _SAYS.get(type(payload))
    return nothing if says is None else {**nothing, **says(payload)}


def _feature(payload: Any) -> Row:
    levels = {name: one.get("max_version_level") for name, one in payload.features.items()}
    return {"feature_status": payload.status, "features": levels}


def _block(payload: Any) -> Row:
    ends = {name: int(getattr(payload, name)) for name in ("block_start", "block_end")}
    return {"block_broker_id": payload.broker, **ends}


_SAYS: Mapping[type, Callable[[Any], Row]] = {
    ClusterId: lambda payload: {"cluster_id": payload.id},
    Features: _feature,
    Migration: lambda payload: {name: getattr(payload, name) for name in _MIGRATION},
    ProducerIdBlock: _block,
}
