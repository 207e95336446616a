"""The sampler of the watcher on a large cluster: rounds over all partitions, commits of all groups.

Everything is real: three brokers with all those partitions, a producer that appends to all of them
and each group's offsets committed anew in every interval. The control is the interval itself: a
turn must fit into it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import NamedTuple
from urllib.request import urlopen

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.figures import Figure
from bench.group_commits import Committers, CommittingGroup
from bench.processes import read_cpu_s, read_rss_bytes
from bench.producer import start_producer
from bench.stage import Stage, name_cluster
from bench.tail import Tail
from bench.turns import Turn, Turns
from lab.cluster import Cluster
from lab.ports import find_free_ports
from watcher.sampling.brokers import AT_ONCE, Brokers
from zklake.errors import LabError
from zklake.events.envelope import Event
from zklake.name_patterns import Names
from zklake.supervision.child_process import ChildProcess

_BROKERS = 3
_PER_TOPIC = 500
_PER_GROUP = 10
_INTERVAL_S = 10
_OFFSETS_PARTITIONS = 50
_SETTINGS = {
    "log.index.size.max.bytes": "4096",
    # As Kafka has it by default; copies of it are the brokers' affair, and would cost their cores.
    "offsets.topic.num.partitions": str(_OFFSETS_PARTITIONS),
    "offsets.topic.replication.factor": "1",
}
_LIMIT_S = 600
_TURN_METRIC = "zklake_watcher_sample_turn_seconds"


class Seen(NamedTuple):
    """What one interval cost, seen from outside the watcher."""

    # The clients' own time for all commits.
    committing_s: float
    # Of the turn before: from its start to the record of the first answers.
    turn_before_s: float
    # From that record's place in the log to a reader of the log.
    reading_s: float
    cores: float
    memory_mib: float


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds of a turn ÷ the interval, and what it costs."""
    partitions, count, turns = (1_500, 1_000, 3) if quick else (24_000, 10_000, 8)
    # The first ones say everything anew, read __consumer_offsets from its beginning, fill the heap.
    unseen = 1 if quick else 4
    with Cluster(_BROKERS, settings=_SETTINGS) as cluster:
        topics = _fill(cluster, partitions)
        groups = [_make_group(topics, number) for number in range(count)]
        watcher = _Watcher(stage, cluster)
        try:
            with (
                _growing(stage, cluster, topics),
                Committers(cluster.brokers[0].address, groups, _OFFSETS_PARTITIONS) as committers,
            ):
                seen, published = watcher.follow(unseen + turns, committers.commit)
            return _report(
                partitions, count, _count_calls(cluster), seen[unseen:], published[unseen:]
            )
        finally:
            watcher.close()


@contextmanager
def _growing(stage: Stage, cluster: Cluster, topics: list[str]) -> Iterator[None]:
    """Meanwhile every log grows."""
    log_file = stage.directory / "producer.log"
    producer = start_producer(cluster.bootstrap, topics, _INTERVAL_S, log_file)
    try:
        yield
        if not producer.is_alive():
            raise LabError(f"the producer ended:\n{producer.tail()}")
    finally:
        producer.stop()


class _Watcher:
    """`zklake watch` as a user would start it, and its log."""

    def __init__(self, stage: Stage, cluster: Cluster) -> None:
        name, (port,) = name_cluster(), find_free_ports(1)
        self._address = f"127.0.0.1:{port}"
        settings = ["SAMPLING=true", f"SAMPLE_INTERVAL_S={_INTERVAL_S}"]
        command = ["env", *(f"ZKLAKE_WATCHER__{each}" for each in settings)]
        command += [sys.executable, "-m", "zklake", "watch", "--cluster", name]
        command += ["--zookeeper", cluster.zookeeper_connect, "--log", cluster.bootstrap]
        command += ["--http", self._address]
        self._process = ChildProcess(command, stage.directory / f"{name}.log")
        self._tail = Tail(cluster.bootstrap, name)
        # One reading for all: each event is needed, also those behind the one that is waited for.
        self._events = self._tail.read(_LIMIT_S)
        self._turns = Turns()

    def follow(self, turns: int, commit: Callable[[int], float]) -> tuple[list[Seen], list[Turn]]:
        """All groups commit as soon as a turn is published; the next turn has to have them."""
        self._wait_for_turn()
        # One more: it shows how long the one before took, and slow brokers answer meanwhile.
        seen = [self._see(offset, commit) for offset in range(1, turns + 2)]
        return seen, self._turns.sum_up()[1:]

    def _see(self, offset: int, commit: Callable[[int], float]) -> Seen:
        used, began = read_cpu_s(self._process.pid), time.monotonic()
        committing_s, turn_before_s = commit(offset), self._read_turn_s()
        event_ = self._wait_for_turn()
        reading_s = time.time() - event_.observed_at_ms / 1000
        cores = (read_cpu_s(self._process.pid) - used) / (time.monotonic() - began)
        memory_mib = read_rss_bytes(self._process.pid) / 2**20
        return Seen(committing_s, turn_before_s, reading_s, cores, memory_mib)

    def _wait_for_turn(self) -> Event:
        event_ = next((event for _, event in self._events if self._turns.note(event)), None)
        if event_ is None:
            raise LabError(f"the watcher did not sample for long enough:\n{self._process.tail()}")
        return event_

    def _read_turn_s(self) -> float:
        with urlopen(f"http://{self._address}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return next(float(each.split()[1]) for each in lines if each.startswith(_TURN_METRIC))

    def close(self) -> None:
        """End the watcher."""
        self._tail.close()
        self._process.stop()


def _report(
    partitions: int, groups: int, calls: int, seen: list[Seen], turns: list[Turn]
) -> list[Figure]:
    turn_s = [each.turn_before_s for each in seen[1:]]
    seen, turns = seen[:-1], turns[:-1]
    memory = [each.memory_mib for each in seen]
    # A slow broker's answers come after the turn, in rounds of their own.
    whole = [s + t.last_s - t.first_s for s, t in zip(turn_s, turns, strict=True)]
    said = f"turn: {groups * _PER_GROUP:,} commits said, then that round, ÷ interval"
    return [
        Figure(said, _share(whole), "×", "≤ 1"),
        Figure(f"round over {partitions:,} partitions, all answers, ÷ interval",
               _share([each.last_s for each in turns]), "×", "≤ 1"),
        Figure("commits said per interval ÷ made in it",
               [each.newest / groups / _PER_GROUP for each in turns], "×", "1"),
        Figure("log ends said in a turn, slow brokers' own rounds included, ÷ partitions",
               [each.moved / partitions for each in turns], "×", "1"),
        Figure("calls per round", [calls], ""),
        Figure("brokers that answered", [each.answered for each in turns], "", str(_BROKERS)),
        Figure("records of a round: slow brokers have their own", [t.rounds for t in turns], ""),
        Figure("from its seq to a reader of the log", [s.reading_s for s in seen], "s"),
        Figure("clients: time to commit it all", [s.committing_s for s in seen], "s"),
        Figure("watcher's CPU", [each.cores for each in seen], "cores"),
        Figure("watcher's memory", memory, "MiB"),
        Figure("memory, last ÷ first of these intervals", [memory[-1] / memory[0]], "×", "flat"),
    ]  # fmt: skip


def _count_calls(cluster: Cluster) -> int:
    """Calls of a round: one for who leads what, then two per AT_ONCE partitions of a leader."""
    brokers = Brokers(cluster.bootstrap, {}, Names(("t*",)))
    leading = brokers.read_layout(60).by_leader().values()
    return 1 + sum(2 * ceil(len(partitions) / AT_ONCE) for partitions in leading)


def _share(seconds: list[float]) -> list[float]:
    return [each / _INTERVAL_S for each in seconds]


def _fill(cluster: Cluster, partitions: int) -> list[str]:
    """Topics, one after the other: a controller on this machine has enough to do with one."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    names = [f"t{number:03}" for number in range(partitions // _PER_TOPIC)]
    for name in names:
        admin.create_topics([NewTopic(name, _PER_TOPIC, 1)], request_timeout=120)[name].result(180)
    return names


def _make_group(topics: list[str], number: int) -> CommittingGroup:
    start = number * _PER_GROUP % _PER_TOPIC
    partitions = tuple(range(start, start + _PER_GROUP))
    return CommittingGroup(f"group-{number:05}", topics[number % len(topics)], partitions)
