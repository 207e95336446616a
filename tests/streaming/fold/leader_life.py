"""Who leads partitions: leaders go and come back, and state znodes are written over and over."""

from __future__ import annotations

from tests.reference.fold.topic_steps import dump
from tests.streaming.fold.cluster import Cluster, Step


def lead(cluster: Cluster) -> None:
    """Some partitions lose their leader, or get one, or the same one again."""
    for topic, partition in cluster.partitions():
        if cluster.chance(0.5):
            continue
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        isr = cluster.dice.choice(([1], [2], [1, 2]))
        leader = cluster.dice.choice((-1, -1, isr[0], isr[0]))
        value = {"version": 1, "leader": leader, "leader_epoch": 3, "controller_epoch": 1}
        data = b"?" if cluster.chance(0.03) else dump(value | {"isr": isr})
        if path not in cluster.tree:
            cluster.create("partition_state", path, data)
        elif cluster.chance(0.05):
            cluster.delete(path)
        else:
            cluster.write(path, data)


def truncate(cluster: Cluster) -> None:
    """An unclean election: the new leader's logs end earlier."""
    for key, (start, end) in cluster.logs.items():
        if cluster.chance(0.5):
            cluster.logs[key] = (start, max(start, end - cluster.dice.choice((5, 400))))


STEPS: tuple[tuple[Step, int], ...] = ((lead, 3), (truncate, 1))
