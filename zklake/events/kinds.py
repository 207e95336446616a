"""The registry of znode kinds: everything Kafka ever kept in ZooKeeper, 0.7 to 3.9.

Names are stable: they stand in every event and in the tables made from them.
"""

from __future__ import annotations

from zklake.events.kind import Kind, Sample
from zklake.events.payloads import (
    admin,
    broker,
    cluster,
    config,
    consumer,
    controller,
    notification,
    partition,
    security,
    topic,
)
from zklake.events.payloads.reading import Unreadable

KINDS: tuple[Kind, ...] = (
    *cluster.KINDS,
    *broker.KINDS,
    *topic.KINDS,
    *partition.KINDS,
    *controller.KINDS,
    *admin.KINDS,
    *config.KINDS,
    *notification.KINDS,
    *consumer.KINDS,
    *security.KINDS,
)


def _decode_unknown(data: bytes | None) -> Unreadable:
    return Unreadable("not_recognised", "no payload is known for this path")


# Whatever else stands in the ensemble: /zookeeper, other systems' trees, names Kafka never wrote.
UNKNOWN = Kind(
    "unknown",
    "/**",
    "-",
    "not Kafka's: metadata only",
    _decode_unknown,
    (Sample("-", b"anything"),),
    sensitivity="sealed",
)

KIND_BY_NAME: dict[str, Kind] = {kind.name: kind for kind in (*KINDS, UNKNOWN)}
