"""Which znodes are audited, and which znode an open row speaks of.

Written from the znodes' names, not from the tables' definitions: it is a second opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from auditor.comparison import ZnodeTable
from zklake.events.kinds import KIND_BY_NAME
from zklake.events.paths import classify

# By kind of znode, the table that holds its state. Ids of delegation tokens are hashed in the
# table: only whoever has the watcher's key could say which is which.
TABLES = {
    "broker": "broker_membership",
    "topic": "topics",
    "topic_broker": "topics",
    "partition_state": "partition_state",
    "consumer": "consumer_membership",
    "owner": "ownership_history",
    "offset": "consumer_offsets",
    "cluster_id": "cluster_state",
    "feature": "cluster_state",
    "migration": "cluster_state",
    "producer_id_block": "cluster_state",
    "broker_seqid": "cluster_state",
    "acl": "cluster_state",
    "prefixed_acl": "cluster_state",
}
# The watcher hashes a longer name.
_LONGEST_NAME = 4096
_LARGEST_NUMBER = 2**31 - 1
_NUMBERS = ("broker_id", "partition")

Values = Mapping[str, Any]


def _name_partition(row: Values) -> str:
    """0.7 has one for each broker."""
    broker, partition = row["broker_id"], row["partition"]
    return f"{partition}" if broker is None else f"{broker}-{partition}"


def _name_topic(row: Values) -> str:
    topic = f"/brokers/topics/{row['topic']}"
    return topic if row["broker_id"] is None else f"{topic}/{row['broker_id']}"


# By table: the columns that name a znode, and how.
NAMES: dict[str, tuple[tuple[str, ...], Callable[[Values], str]]] = {
    "broker_membership": (("broker_id",), lambda row: f"/brokers/ids/{row['broker_id']}"),
    "topics": (("topic", "broker_id"), _name_topic),
    "partition_state": (
        ("topic", "partition"),
        lambda row: f"/brokers/topics/{row['topic']}/partitions/{row['partition']}/state",
    ),
    "consumer_membership": (
        ("group_id", "member_id"),
        lambda row: f"/consumers/{row['group_id']}/ids/{row['member_id']}",
    ),
    "ownership_history": (
        ("group_id", "topic", "partition", "broker_id"),
        lambda row: f"/consumers/{row['group_id']}/owners/{row['topic']}/{_name_partition(row)}",
    ),
    "consumer_offsets": (
        ("group_id", "topic", "partition", "broker_id"),
        lambda row: f"/consumers/{row['group_id']}/offsets/{row['topic']}/{_name_partition(row)}",
    ),
    "cluster_state": (("path",), lambda row: str(row["path"])),
}
# Tables that also have rows of groups that Kafka itself keeps.
SHARED = frozenset({"consumer_membership", "ownership_history", "consumer_offsets"})


def find_place(path: str) -> ZnodeTable | None:
    """Where the state of a znode must stand; None: it is not audited."""
    match = classify(path)
    table = TABLES.get(match.kind)
    if table is None or any(len(name) > _LONGEST_NAME for name in path.split("/")):
        return None
    for name, text in match.params.items():
        # `007`, and what no INT holds, make rows of other names or none.
        is_plain = text == "0" or not text.startswith("0")
        if name in _NUMBERS and not (is_plain and int(text) <= _LARGEST_NUMBER):
            return None
    return ZnodeTable(table, path)


def list_patterns() -> list[str]:
    """The paths of all audited kinds; `[name]` is any name."""
    kinds = [KIND_BY_NAME[name] for name in TABLES]
    return [pattern for kind in kinds for pattern in (kind.pattern, *kind.also)]
