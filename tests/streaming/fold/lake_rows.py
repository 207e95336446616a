"""A cluster's state written as rows of the lake, and read back."""

from __future__ import annotations

import msgspec

from streaming.fold.cluster_state import ClusterState
from streaming.fold.life import State
from streaming.fold.recalling import recall_cluster_state


def recall(cluster_state: ClusterState) -> ClusterState:
    """What the lake's rows would make of it."""
    members, owners = [], []
    for group, held in cluster_state.members.items():
        for member in held.values():
            row = {**msgspec.to_builtins(member), **tell_state(member.state)}
            members.append({**group._asdict(), **row})
    for group, taken in cluster_state.owners.items():
        for key, owner in taken.items():
            row = {**msgspec.to_builtins(owner), **tell_state(owner.state)}
            places = {"valid_from_seq": owner.from_seq, "valid_from_at": owner.from_ms}
            owners.append({**group._asdict(), **key._asdict(), "broker_id": None, **row, **places})
    topics = [
        {
            "topic": topic,
            "broker_id": None,
            "replicas": None if t.partitions is None else {p: [1] for p in t.partitions},
            "incarnation": t.incarnation,
            **msgspec.to_builtins(t),
            **tell_state(t.state),
            "valid_from_seq": t.from_seq,
        }
        for topic, t in cluster_state.topics.items()
    ]
    groups = [
        {"group_id": name, "seq": known.seen_seq, **msgspec.to_builtins(known)}
        for name, known in cluster_state.kafka_groups.items()
    ]
    gaps = [{"gap_id": g, "valid_from_seq": 0, "valid_to_seq": None} for g in cluster_state.gaps]
    return recall_cluster_state(members, owners, topics, groups, gaps)


def tell_state(state: State) -> dict[str, int | str | None]:
    """As columns."""
    return {
        "czxid": state.czxid,
        "znode_version": state.version,
        "fidelity": state.fidelity,
    }
