"""What a request and a topic's znode say of partitions that move, or shall."""

from __future__ import annotations

from typing import Any, NamedTuple

from zklake.events.envelope import Event

# Topic and partition.
Key = tuple[str, int]
Replicas = tuple[int, ...]


class Move(NamedTuple):
    """What a topic's znode says of a partition in flight."""

    target: Replicas
    adding: Replicas
    removing: Replicas
    # Which last said so.
    event: Event


def find_moves(topic: str, assignment: Any, event: Event) -> dict[Key, Move]:
    """The partitions in flight; the target is what will be left of the replicas."""
    moves = {}
    for partition, replicas in assignment.partitions.items():
        adding = assignment.adding_replicas.get(partition, ())
        removing = assignment.removing_replicas.get(partition, ())
        if adding or removing:
            target = tuple(replica for replica in replicas if replica not in removing)
            moves[topic, partition] = Move(target, adding, removing, event)
    return moves


def has_arrived(move: Move, key: Key, assignment: Any) -> bool:
    """Whether a partition that moves no longer is where it should go; the order may differ."""
    assigned = assignment.partitions.get(key[1])
    return assigned is not None and set(assigned) == set(move.target)


def find_wishes(request: Any) -> dict[Key, Replicas | None]:
    """By partition the replicas it shall have; of an election there are none to wish for."""
    return {
        (one.topic, one.partition): tuple(one.replicas) if hasattr(one, "replicas") else None
        for one in request.partitions
    }
