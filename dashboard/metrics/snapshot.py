"""What one set of metrics is made of: the lake as it is now, chosen and cut to size.

The groups that are farthest behind stay longest, then topics by name. What does not fit is counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dashboard.metrics import cluster, topics
from dashboard.metrics.family import Family, Level, MetricSet
from dashboard.metrics.group_reading import GroupReader, list_reads
from dashboard.metrics.groups import Group, Partition
from dashboard.options import MetricOptions
from delta_tables.live.tables import Tables
from delta_tables.statuses import ORDER
from zklake.name_patterns import Names

T = TypeVar("T")
Things = dict[Level, Sequence[Any]]
_TOPIC_LEVELS: dict[Level, Callable[[Tables, Callable[[str], bool]], list[Any]]] = {
    "topic": topics.read_topics,
    "topic_ends": topics.sum_ends,
    "log": topics.list_ends,
    "replicas": topics.list_replicas,
}


@dataclass(frozen=True)
class MetricsSnapshot:
    """The things by level; what holds of them at a moment is made of groups and brokers."""

    things: Things
    groups: Sequence[Group]
    brokers: Sequence[cluster.Broker]
    left_out: int


def name_reads(tables: Tables, families: Iterable[Family[Any]]) -> tuple[str, ...]:
    """The tables whose news make another snapshot of these families."""
    reads = (*list_reads(tables), "consumer_membership", "rebalances", *cluster.READS)
    # It has news with every batch: only for those that ask for it.
    is_counted = any(family.shape.level == "group_commits" for family in families)
    return (*reads, "consumer_offsets") if is_counted else reads


def take_snapshot(
    tables: Tables, chosen: MetricSet, families: Sequence[Family[Any]], options: MetricOptions
) -> MetricsSnapshot:
    """Read what these families of the set need, and no more."""
    began = time.monotonic()
    levels = Counter(family.shape.level for family in families)
    is_wanted = Names(options.topics, options.exclude_topics).holds
    brokers = cluster.list_brokers(tables)
    things: Things = {
        "cluster": [cluster.read_cluster(tables)] if levels["cluster"] else [],
        "broker": [broker for broker in brokers if broker.left_at is None],
    }
    reader = GroupReader(tables, is_wanted, is_merged=chosen.is_merged, is_filled=chosen.is_filled)
    named = _choose_named(reader.list_groups(with_topics=levels["group_topic"] > 0), options)
    things["status"] = count_statuses(named) if tables.has("consumer_membership") else []
    fixed = sum(levels[level] * len(things[level]) for level in things)
    room = options.most_series - fixed
    groups, left = _cut(choose_groups(named, options), lambda one: _price(one, levels), room)
    things["group"] = groups
    things["group_commits"] = reader.list_commits(groups) if levels["group_commits"] else []
    things["group_topic"] = [topic for group in groups for topic in group.topics]
    things["group_partition"] = _list_partitions(reader, groups, named, options, levels)
    room -= sum(_price(group, levels) for group in groups)
    of_topics, left_of_topics = _read_topics(tables, is_wanted, levels, room)
    things["taken_ms"] = [1000 * (time.monotonic() - began)]
    return MetricsSnapshot({**things, **of_topics}, groups, brokers, left + left_of_topics)


def choose_groups(groups: Sequence[Group], options: MetricOptions) -> list[Group]:
    """Of groups in their order: the bad ones, and the first of them, if that is wanted."""
    kept = [group for group in groups if not options.only_bad or group.sums.severity != 0]
    return kept[: options.top] if options.top else kept


def count_statuses(groups: Iterable[Group]) -> list[tuple[str, int]]:
    """How many groups are how, also where there is none."""
    counts = Counter(group.sums.severity for group in groups)
    return [*((word, counts[place]) for place, word in enumerate(ORDER)), ("unknown", counts[None])]


def _choose_named(groups: Iterable[Group], options: MetricOptions) -> list[Group]:
    is_wanted = Names(options.groups, options.exclude_groups).holds
    return [group for group in groups if is_wanted(group.group_id)]


def _price(group: Group, levels: Mapping[Level, int]) -> int:
    of_group = sum(levels[one] for one in ("group", "group_commits", "group_now", "burrow_group"))
    of_partition = levels["group_partition"] + levels["burrow_partition"]
    of_topics = levels["group_topic"] * len(group.topics)
    return of_group + of_topics + of_partition * group.sums.partitions


def _list_partitions(
    reader: GroupReader,
    groups: Sequence[Group],
    named: Sequence[Group],
    options: MetricOptions,
    levels: Mapping[Level, int],
) -> list[Partition]:
    if not levels["group_partition"] or not groups:
        return []
    are_all = len(groups) == len(named)
    return reader.list_partitions(groups, are_all=are_all, with_owners=options.member_labels)


def _read_topics(
    tables: Tables, is_wanted: Callable[[str], bool], levels: Mapping[Level, int], room: int
) -> tuple[Things, int]:
    found: Things = {
        level: read(tables, is_wanted) for level, read in _TOPIC_LEVELS.items() if levels[level]
    }
    prices: Counter[str] = Counter()
    for level, rows in found.items():
        for row in rows:
            prices[row.topic] += levels[level]
    kept, left = _cut(sorted(prices), prices.__getitem__, room)
    names = set(kept)
    cut: Things = {
        level: [row for row in rows if row.topic in names] for level, rows in found.items()
    }
    return cut, left


def _cut(things: Iterable[T], price: Callable[[T], int], room: int) -> tuple[list[T], int]:
    """Those that fit, in their order, and the price of the others."""
    kept, left_out = [], 0
    for thing in things:
        if (cost := price(thing)) <= room:
            kept.append(thing)
            room -= cost
        else:
            left_out += cost
    return kept, left_out
