"""Single nodes that speak of the whole cluster: id, producer ids, features, migration."""

from __future__ import annotations

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    DecimalString,
    Document,
    Empty,
    Int32,
    Int64,
    Payload,
    Unreadable,
)


class ClusterId(Payload, frozen=True, kw_only=True):
    """The cluster's id."""

    id: str


class _ClusterIdOnWire(msgspec.Struct):
    id: str


class ProducerIdBlock(Payload, frozen=True, kw_only=True):
    """The last block of producer ids handed out, both ends included; strings on the wire."""

    broker: Int32
    block_start: DecimalString
    block_end: DecimalString


class Features(Payload, frozen=True, kw_only=True):
    """Finalised features; status 0 = disabled, 1 = enabled."""

    status: Int32
    features: dict[str, dict[str, Int32]] = msgspec.field(default_factory=dict)


class Migration(Payload, frozen=True, kw_only=True):
    """How far a KRaft controller has copied the tree; -1 = not yet."""

    kraft_controller_id: Int32
    kraft_controller_epoch: Int32
    kraft_metadata_offset: Int64
    kraft_metadata_epoch: Int32


# The one version that is a string on the wire.
_CLUSTER_ID = Document(_ClusterIdOnWire, {"1": ()})
_BLOCK = Document(ProducerIdBlock, {1: ()})
_FEATURES = Document(Features, {1: (), 2: ()})
_MIGRATION = Document(Migration, {0: ()})


def decode_cluster_id(data: bytes | None) -> ClusterId | Unreadable:
    """The id of the cluster."""
    wire = _CLUSTER_ID.read(data)
    return wire if isinstance(wire, Unreadable) else ClusterId(version=1, id=wire.id)


def decode_producer_id_block(data: bytes | None) -> ProducerIdBlock | Empty | Unreadable:
    """The last block; null until the first one is handed out."""
    return _BLOCK.read(data) if data else Empty()


def decode_feature(data: bytes | None) -> Features | Unreadable:
    """The finalised features."""
    return _FEATURES.read(data)


def decode_migration(data: bytes | None) -> Migration | Unreadable:
    """The progress of a migration to KRaft."""
    return _MIGRATION.read(data)


KINDS = (
    directory("root", "/", "all"),
    directory("cluster_dir", "/cluster", "0.10.1-3.9"),
    Kind(
        "cluster_id",
        "/cluster/id",
        "0.10.1-3.9",
        "the cluster's id, written once",
        decode_cluster_id,
        (Sample("0.10.1-3.9", b'{"version":"1","id":"rxlk6OtpQLSfzp-vRvWQqQ"}'),),
    ),
    Kind(
        "producer_id_block",
        "/latest_producer_id_block",
        "0.11-3.9",
        "the last block of producer ids: one write per broker start and per 1000 ids",
        decode_producer_id_block,
        (
            Sample("0.11-3.9, at birth", None),
            Sample("0.11-3.9", b'{"version":1,"broker":2,"block_start":"3000","block_end":"3999"}'),
        ),
    ),
    Kind(
        "feature",
        "/feature",
        "2.7-3.9",
        "finalised features",
        decode_feature,
        (
            Sample(
                "2.7-3.2",
                b'{"version":1,"status":1,'
                b'"features":{"group.version":{"min_version_level":1,"max_version_level":1}}}',
            ),
            Sample(
                "3.3-3.9",
                b'{"version":2,"status":1,"features":{"group.version":{"max_version_level":1}}}',
            ),
        ),
    ),
    Kind(
        "migration",
        "/migration",
        "3.4-3.9",
        "progress of the migration to KRaft; written all the time during dual write",
        decode_migration,
        (
            Sample(
                "3.4-3.9, at birth",
                b'{"version":0,"kraft_controller_id":-1,"kraft_controller_epoch":-1,'
                b'"kraft_metadata_offset":-1,"kraft_metadata_epoch":-1}',
            ),
            Sample(
                "3.4-3.9",
                b'{"version":0,"kraft_controller_id":3000,"kraft_controller_epoch":5,'
                b'"kraft_metadata_offset":120345,"kraft_metadata_epoch":5}',
            ),
        ),
    ),
)
