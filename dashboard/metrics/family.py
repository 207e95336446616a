"""What a metric is: its name, its labels, what it says, and of what it is a number.

Descriptions only. Where the numbers come from is dashboard/metrics/snapshot.py, how they are
written is dashboard/metrics/exposition.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

S = TypeVar("S")

ClusterLevel = Literal["cluster", "broker", "status", "taken_ms"]
TopicLevel = Literal["topic", "topic_ends", "log", "replicas"]
GroupLevel = Literal["group", "group_commits", "group_topic", "group_partition"]
# These change without the tables: by a clock, or by who is up.
NowLevel = Literal["pulse", "part", "seen_broker", "group_now", "left_out"]
BurrowLevel = Literal["burrow_group", "burrow_partition"]
Level = ClusterLevel | TopicLevel | GroupLevel | BurrowLevel | NowLevel


@dataclass(frozen=True)
class Shape(Generic[S]):
    """One series for each thing of a level, and which labels identify it."""

    level: Level
    labels: tuple[str, ...]
    # What these labels say; the cluster's label comes before them.
    write: Callable[[S], tuple[object, ...]]
    cluster_label: str | None = None

    @property
    def is_of_now(self) -> bool:
        """Whether it needs more than the tables."""
        return self.level in get_args(NowLevel)

    @property
    def all_labels(self) -> tuple[str, ...]:
        """With the cluster's."""
        return (*((self.cluster_label,) if self.cluster_label else ()), *self.labels)


@dataclass(frozen=True)
class Family(Generic[S]):
    """One name; a value of None is no sample."""

    name: str
    says: str
    shape: Shape[S]
    find: Callable[[S], float | None]
    is_counter: bool = False


@dataclass(frozen=True)
class MetricSet:
    """Names that belong together, because one exporter has them."""

    name: str
    title: str
    says: str
    families: tuple[Family[Any], ...]
    # Others know no coordinator: a group that both keep is one group to them.
    is_merged: bool = True
    # Of a topic that a group reads, the partitions without an offset are shown too.
    is_filled: bool = False
    # What that exporter has and we do not, and why.
    lacks: tuple[tuple[str, str], ...] = ()

    def choose(self, *, with_partitions: bool) -> tuple[Family[Any], ...]:
        """The families that are shown: our own go as far as groups, unless they are to go on."""
        fine = () if with_partitions or self.is_merged else ("log", "group_partition")
        return tuple(family for family in self.families if family.shape.level not in fine)
