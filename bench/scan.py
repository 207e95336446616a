"""How fast a watcher first reads a whole tree, beside a bare reader over the same connection code.

Both run in this process, in turn. The watcher's loop, outlet, redaction and encoding are the real
ones; what it would publish goes nowhere in the one run, and to Kafka in the other.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.bare_reader import read_all
from bench.figures import Figure, ratio
from bench.processes import read_cpu_s
from bench.stage import Stage, name_cluster
from bench.znodes import list_tree
from watcher.chronicle import Chronicle
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.topics import ensure_topics
from watcher.loop import Edges, Limits, Loop, now_ms
from watcher.metrics import WatcherMetrics
from watcher.outlet import Log, Outlet
from watcher.release import Release
from watcher.sealing import Sealing
from watcher.tree import Tree
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.errors import LabError
from zklake.events.envelope import Meta
from zklake.events.redaction import Redactor

_RECORD_BYTES = 1 << 20
_PATIENCE_S = 10.0
_WARM_UP = 200_000


class Took(NamedTuple):
    """What a walk over the tree took: time, our CPU in user and system mode, the server's CPU."""

    wall_s: float
    user_s: float
    system_s: float
    server_s: float


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """znodes/s of the watcher ÷ of the bare reader, and the CPU that each znode cost."""
    size, rounds = (20_000, 3) if quick else (100_000, 5)
    server = stage.fast_zookeeper
    root = stage.make_root(list_tree(size), server.connect_string)
    # The root of the chroot counts too.
    walk = Walk(root, size + 1, server.pid)
    for _ in range(_WARM_UP // size):
        walk.read_bare()  # the JVM compiles what it runs often
    runs = _take_turns(
        {
            "bare reader": walk.read_bare,
            "scan": lambda: walk.scan(Discarded()),
            "scan, published to Kafka": lambda: walk.scan(_open_kafka(stage)),
        },
        rounds,
    )
    rates = {name: [size / took.wall_s for took in each] for name, each in runs.items()}
    bare, scan, into_kafka = rates.values()
    return [
        ratio(f"scan ÷ bare reader, {size:,} znodes", scan, bare, "≥ 0.8"),
        ratio("the same, published to Kafka", into_kafka, bare),
        *(Figure(name, each, "znodes/s") for name, each in rates.items()),
        *(figure for name, each in runs.items() for figure in _costs(name, each, size)),
    ]


def _take_turns(walks: dict[str, Callable[[], Took]], rounds: int) -> dict[str, list[Took]]:
    """A B C, C B A, …: a drift of the machine falls on all of them."""
    runs: dict[str, list[Took]] = {name: [] for name in walks}
    for number in range(rounds):
        for name in walks if number % 2 == 0 else reversed(walks):
            runs[name].append(walks[name]())
    return runs


def _costs(name: str, runs: list[Took], size: int) -> list[Figure]:
    scale = 1e6 / size
    return [
        Figure(f"{name}: our CPU per znode", [scale * (r.user_s + r.system_s) for r in runs], "µs"),
        Figure(f"{name}: of it system time", [scale * r.system_s for r in runs], "µs"),
        Figure(f"{name}: ZooKeeper's CPU per znode", [scale * r.server_s for r in runs], "µs"),
    ]


class Discarded:
    """A log that keeps nothing."""

    def open(self) -> None:
        """There is never an earlier log."""

    def publish(self, batch: Batch) -> None:
        """Let it go."""

    def close(self) -> None:
        """Nothing was opened."""


class Published(Discarded):
    """A new log in Kafka."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        publisher.fence()

    def publish(self, batch: Batch) -> None:
        """One transaction."""
        self._publisher.publish(batch)

    def close(self) -> None:
        """Let go of it."""
        self._publisher.close()


def _open_kafka(stage: Stage) -> Published:
    bootstrap, cluster = stage.cluster.bootstrap, name_cluster()
    ensure_topics(bootstrap, {}, cluster)
    return Published(Publisher(bootstrap, {}, cluster))


class Walk:
    """Walks over one tree of the bench, by the watcher or by the bare reader."""

    def __init__(self, root: str, znodes: int, server_pid: int) -> None:
        self._root, self._znodes, self._server_pid = root, znodes, server_pid

    def scan(self, log: Log) -> Took:
        """From the first attempt to connect to the committed `in_sync`."""
        sealing = Sealing(Redactor(b"bench"), _RECORD_BYTES)
        inbox, tree = Inbox(), Tree()
        outlet = Outlet(log, on_done=lambda: inbox.put(()))
        chronicle = Chronicle(Release("bench", Meta("bench", 1, 0, 0), tree, sealing))
        chronicle.begin("first_start", now_ms())
        session = ZooKeeperSession(self._root, inbox)
        loop = Loop(WatcherMetrics(), chronicle, Edges(inbox, session, outlet), Limits())

        def work() -> int:
            loop.run(lambda published: published, lambda: False)
            return len(tree)

        try:
            return self._time(session, work)
        finally:
            outlet.close(_PATIENCE_S)
            log.close()

    def read_bare(self) -> Took:
        """As many requests in flight as the watcher has."""
        inbox = Inbox()
        session = ZooKeeperSession(self._root, inbox)
        return self._time(session, lambda: read_all(session, inbox, Limits().reads_in_flight))

    def _time(self, session: ZooKeeperSession, work: Callable[[], int]) -> Took:
        gc.collect()
        began, ours = time.monotonic(), os.times()
        server_s = -read_cpu_s(self._server_pid)
        session.start()
        try:
            znodes = work()
            wall_s, used = time.monotonic() - began, os.times()
            server_s += read_cpu_s(self._server_pid)
        finally:
            session.close()
        if znodes != self._znodes:
            raise LabError(f"{znodes} znodes were read, and there are {self._znodes}")
        return Took(wall_s, used.user - ours.user, used.system - ours.system, server_s)
