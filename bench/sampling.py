"""The sampler of the watcher on a large cluster: rounds over all partitions, commits of all groups.

Everything is real: three brokers with all those partitions, and each group's offsets committed to
them anew in every interval. The control is the interval itself: a round must fit into it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.figures import Figure
from bench.processes import read_cpu_s, read_rss_bytes
from bench.stage import Stage, name_cluster
from bench.tail import Tail
from lab.cluster import Cluster
from lab.leash import Leash
from zklake.errors import LabError
from zklake.events.envelope import Event

_BROKERS = 3
_PER_TOPIC = 500
_PER_GROUP = 10
_INTERVAL_S = 10
# Groups whose commits are under way at once.
_AT_ONCE = 200
_SETTINGS = {"log.index.size.max.bytes": "4096", "num.network.threads": "2"}


@dataclass
class Seen:
    """One round as the log tells it."""

    took_s: float
    # From the first record of the interval to the end of the round.
    cycle_s: float
    commits: int
    brokers: int
    # Of the watcher, while the round was waited for.
    cpu: float = 0.0
    memory_mib: float = 0.0


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds of a round ÷ the interval, and what it costs."""
    partitions, groups, rounds = (1_500, 300, 3) if quick else (24_000, 10_000, 8)
    with Cluster(_BROKERS, settings=_SETTINGS) as cluster:
        topics = _fill(cluster, partitions)
        name = name_cluster()
        leash, tail = _watch(stage, cluster, name), Tail(cluster.bootstrap, name)
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        try:
            seen = _follow(leash, tail, rounds, lambda n: _commit(admin, topics, groups, n + 1))
            return _tell(len(topics) * _PER_TOPIC, groups, seen)
        finally:
            tail.close()
            leash.stop()


def _follow(leash: Leash, tail: Tail, rounds: int, commit: Callable[[int], None]) -> list[Seen]:
    told = _read_rounds(tail)
    seen = []
    for number in range(rounds + 2):
        commit(number)
        used, began = read_cpu_s(leash.pid), time.monotonic()
        each = next(told)
        each.cpu = (read_cpu_s(leash.pid) - used) / max(time.monotonic() - began, 0.001)
        each.memory_mib = read_rss_bytes(leash.pid) / 2**20
        seen.append(each)
    # The first rounds say everything anew, and read __consumer_offsets from its beginning.
    return seen[2:]


def _tell(partitions: int, groups: int, seen: list[Seen]) -> list[Figure]:
    ends, memory = [one.took_s for one in seen], [one.memory_mib for one in seen]
    cycles = [one.cycle_s for one in seen]
    said = f"commits of {groups:,} groups × {_PER_GROUP} and the round, said ÷ interval"
    return [
        Figure(f"round over {partitions:,} partitions ÷ interval", _share(ends), "×", "≤ 1"),
        Figure(said, _share(cycles), "×", "≤ 1"),
        Figure("commits said per round", [one.commits for one in seen], ""),
        Figure("list-offsets calls per round", [2 * one.brokers for one in seen], ""),
        Figure("a round", ends, "s"),
        Figure("watcher's CPU", [one.cpu for one in seen], "cores"),
        Figure("watcher's memory", memory, "MiB"),
        Figure("memory, last ÷ first of these rounds", [memory[-1] / memory[0]], "×", "flat"),
    ]


def _share(seconds: list[float]) -> list[float]:
    return [each / _INTERVAL_S for each in seconds]


def _read_rounds(tail: Tail) -> Iterator[Seen]:
    """Each round once it is told; only those in which somebody answered."""
    first_ms, commits = None, 0
    while True:
        event = _next(tail)
        if event.op not in ("log_ends", "group_commit", "group_state"):
            continue
        first_ms = first_ms or event.observed_at_ms
        commits += len(event.group_commit.commits) if event.group_commit else 0
        if event.log_ends is None:
            continue
        ended = event.log_ends.round
        if ended is not None and ended.brokers_answered:
            cycle_s = (event.observed_at_ms - first_ms) / 1000
            yield Seen(ended.took_ms / 1000, cycle_s, commits, len(ended.brokers_answered))
            first_ms, commits = None, 0


def _next(tail: Tail) -> Event:
    event = tail.wait(lambda event: True, 12 * _INTERVAL_S)
    if event is None:
        raise LabError("the watcher told nothing for two minutes")
    return event


def _watch(stage: Stage, cluster: Cluster, name: str) -> Leash:
    command = [sys.executable, "-m", "zklake", "watch", "--zookeeper", cluster.zookeeper_connect]
    command += ["--log", cluster.bootstrap, "--cluster", name, "--http", "127.0.0.1:0"]
    settings = ["ZKLAKE_WATCHER__SAMPLING=true", f"ZKLAKE_WATCHER__SAMPLE_INTERVAL_S={_INTERVAL_S}"]
    return Leash(["env", *settings, *command], stage.directory / f"{name}.log")


def _fill(cluster: Cluster, partitions: int) -> list[str]:
    """Topics, one after the other: a controller on this machine has enough to do with one."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    names = [f"t{number:03}" for number in range(partitions // _PER_TOPIC)]
    for name in names:
        admin.create_topics([NewTopic(name, _PER_TOPIC, 1)], request_timeout=120)[name].result(180)
    return names


def _commit(admin: AdminClient, topics: list[str], groups: int, offset: int) -> None:
    """Every group commits its ten partitions."""
    for first in range(0, groups, _AT_ONCE):
        futures = [
            admin.alter_consumer_group_offsets([_make_commit(topics, group, offset)])
            for group in range(first, min(first + _AT_ONCE, groups))
        ]
        for by_group in futures:
            for future in by_group.values():
                future.result(60)


def _make_commit(topics: list[str], group: int, offset: int) -> ConsumerGroupTopicPartitions:
    topic = topics[group % len(topics)]
    start = group * _PER_GROUP % _PER_TOPIC
    return ConsumerGroupTopicPartitions(
        f"group-{group:05}",
        [TopicPartition(topic, start + each, offset) for each in range(_PER_GROUP)],
    )
