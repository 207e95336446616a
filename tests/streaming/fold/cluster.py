"""The world of groups: a ZooKeeper tree, brokers with logs, and groups kept by Kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.reference.fold.world import World, Znode
from zklake.events.envelope import Fidelity, Op, Stat
from zklake.events.samples import LogEnd

Partition = tuple[str, int]


@dataclass
class KafkaGroup:
    """A group that the brokers keep."""

    generation: int = 0
    members: dict[str, list[Partition]] = field(default_factory=dict)
    topics: tuple[str, ...] = ()


class Cluster(World):
    """Topics are always told whole, so that their incarnations are known; other znodes are not."""

    def __init__(self, dice: Random, cluster: str) -> None:
        super().__init__(dice, cluster)
        self.noise = dice.choice((0.0, 0.05, 0.2))
        self.logs: dict[Partition, tuple[int, int]] = {}
        self.said: dict[Partition, LogEnd] = {}
        self.groups: dict[str, KafkaGroup] = {}
        self.commits: dict[tuple[str, Partition], int] = {}
        # Requests under way: which brokers still owe an answer, and since which seq.
        self.owing: dict[int, int] = {}
        self.has_sampled = False
        self.has_polled_groups = self.chance(0.2)
        self.elections = 0

    def partitions(self, topic: str | None = None) -> list[Partition]:
        """All that exist, or those of one topic."""
        return sorted(key for key in self.logs if topic in (None, key[0]))

    def topics(self) -> list[str]:
        """Those that exist."""
        return sorted(path.rsplit("/", 1)[1] for path in self.paths("topic"))

    def publish(self, op: Op, path: str | None, kind: str | None = None, **fields: Any) -> None:
        """As ever, but no topic without its stat."""
        if kind == "topic" and op != "delete" and path in self.tree:
            znode = self.tree[path]
            fields["stat"] = Stat(
                czxid=znode.czxid,
                mzxid=znode.mzxid,
                ctime=znode.ctime,
                mtime=znode.mtime,
                version=znode.version,
                ephemeral_owner=0,
            )
        super().publish(op, path, kind, **fields)

    def _fidelity(self, op: Op, znode: Znode) -> Fidelity:
        if znode.kind == "topic" or not self.chance(self.noise):
            return "exact"
        return self.dice.choice(("superseded", "superseded", "redacted", "unreadable"))


Step = Callable[[Cluster], None]
