"""A cluster's state made from rows of the lake as they stood at some seq: for restarts. Pure.

Rows are dicts of columns, times in epoch ms; of each table those with valid_from_seq <= seq and
(is_open or valid_to_seq > seq). Which columns are needed stands with each function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streaming.fold.changes import (
    GroupKey,
    KafkaGroup,
    MemberState,
    OwnerState,
    PartitionKey,
    TopicState,
)
from streaming.fold.cluster_state import ClusterState
from streaming.fold.life import State

Row = Mapping[str, Any]


def recall_cluster_state(
    member_rows: Iterable[Row] = (),
    owner_rows: Iterable[Row] = (),
    topic_rows: Iterable[Row] = (),
    group_rows: Iterable[Row] = (),
    gap_rows: Iterable[Row] = (),
) -> ClusterState:
    """Rows of consumer_membership, ownership_history, topics and log_gaps.

    `group_rows`: the last group_state of each Kafka-stored group (see `_recall_group`).
    """
    cluster_state = ClusterState()
    for row in member_rows:
        cluster_state.members.setdefault(_find_group(row), {})[row["member_id"]] = _recall_member(
            row
        )
    for row in owner_rows:
        if row.get("broker_id") is None:
            key = PartitionKey(row["topic"], row["partition"])
            cluster_state.owners.setdefault(_find_group(row), {})[key] = _recall_owner(row)
    for row in topic_rows:
        if row.get("broker_id") is None:
            cluster_state.topics[row["topic"]] = _recall_topic(row)
    for row in group_rows:
        cluster_state.kafka_groups[row["group_id"]] = _recall_group(row)
    # A row that ends where it begins is a count or a hole.
    cluster_state.gaps |= {
        r["gap_id"] for r in gap_rows if r["valid_to_seq"] != r["valid_from_seq"]
    }
    return cluster_state


def _find_group(row: Row) -> GroupKey:
    return GroupKey(row["coordinator"], row["group_id"])


def _recall_member(row: Row) -> MemberState:
    """coordinator, group_id, member_id, pattern, subscription, session, czxid, znode_version,
    fidelity, seen_seq; of Kafka's own groups also client_id, host, group_instance_id."""
    is_kafka = row["coordinator"] == "kafka"
    subscription = row["subscription"]
    return MemberState(
        row["member_id"],
        pattern=row["pattern"],
        subscription=None if subscription is None else dict(subscription),
        session=row["session"],
        seen_seq=row["seen_seq"],
        client_id=row["client_id"] if is_kafka else None,
        host=row["host"] if is_kafka else None,
        group_instance_id=row["group_instance_id"] if is_kafka else None,
        state=_recall_state(row, row["czxid"]),
    )


def _recall_owner(row: Row) -> OwnerState:
    """coordinator, group_id, topic, partition, broker_id, owner, owner_member_id, session, czxid,
    znode_version, fidelity, seen_seq, valid_from_seq, valid_from_at."""
    return OwnerState(
        owner=row["owner"],
        owner_member_id=row["owner_member_id"],
        session=row["session"],
        from_seq=row["valid_from_seq"],
        from_ms=row["valid_from_at"],
        seen_seq=row["seen_seq"],
        state=_recall_state(row, row["czxid"]),
    )


def _recall_topic(row: Row) -> TopicState:
    """topic, broker_id, incarnation, replicas, znode_version, fidelity, seen_seq,
    valid_from_seq."""
    replicas = row["replicas"]
    return TopicState(
        None if replicas is None else tuple(sorted(dict(replicas))),
        row["valid_from_seq"],
        row["seen_seq"],
        _recall_state(row, row["incarnation"]),
    )


def _recall_state(row: Row, czxid: int | None) -> State:
    return State(czxid, row["znode_version"], row["fidelity"] or "exact")


def _recall_group(row: Row) -> KafkaGroup:
    """group_id, generation, state, protocol_type, seq (of the record); has_members, is_assigned:
    see KafkaGroup.

    From znode_events: the last record with op group_state of each group up to that seq, without
    tombstones, and without those before the last complete_since_seq that counted.
    """
    return KafkaGroup(
        row["generation"],
        row["state"],
        row["protocol_type"],
        row["seq"],
        row["has_members"],
        row["is_assigned"],
    )
