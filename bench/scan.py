"""How fast a watcher first reads a whole tree, beside a bare reader over the same connection code.

Both run in this process, in turn. The watcher's loop, outlet, redaction and encoding are the real
ones; what it would publish goes nowhere in the one run, and to Kafka in the other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from bench.figures import Figure, ratio
from bench.stage import Stage, name_cluster
from bench.znodes import list_tree
from watcher.chronicle import Chronicle
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.topics import ensure_topics
from watcher.loop import Edges, Limits, Loop, now_ms
from watcher.messages import Connected, Message, Reply, Request
from watcher.metrics import Numbers
from watcher.outlet import Log, Outlet
from watcher.release import Release
from watcher.sealing import Sealing
from watcher.tree import Tree
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.events.envelope import Meta
from zklake.events.redaction import Redactor

_RECORD_BYTES = 1 << 20
_PATIENCE_S = 10.0


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """znodes/s of the watcher ÷ of the bare reader."""
    znodes, pairs = (20_000, 3) if quick else (100_000, 7)
    root = stage.make_root(list_tree(znodes))
    bare: list[Took] = []
    ours: list[Took] = []
    into_kafka: list[Took] = []
    read_bare(root)
    for _ in range(pairs):
        bare.append(read_bare(root))
        ours.append(_scan(root, Discarded()))
        into_kafka.append(_scan(root, _open_kafka(stage)))
    rates = [[znodes / took.wall_s for took in runs] for runs in (bare, ours, into_kafka)]
    costs = [[1e6 * took.cpu_s / znodes for took in runs] for runs in (bare, ours, into_kafka)]
    return [
        ratio(f"scan ÷ bare reader, {znodes:,} znodes", rates[1], rates[0], "≥ 0.8"),
        ratio("the same, published to Kafka", rates[2], rates[0]),
        Figure("bare reader", rates[0], "znodes/s"),
        Figure("scan", rates[1], "znodes/s"),
        Figure("scan, published to Kafka", rates[2], "znodes/s"),
        Figure("bare reader: our CPU per znode", costs[0], "µs"),
        Figure("scan: our CPU per znode", costs[1], "µs"),
        Figure("scan, published to Kafka: our CPU per znode", costs[2], "µs"),
    ]


class Took(NamedTuple):
    """What a walk over the tree took: time, and CPU of this process."""

    wall_s: float
    cpu_s: float


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


def _scan(root: str, log: Log) -> Took:
    """From the first attempt to connect to the committed `in_sync`."""
    sealing = Sealing(Redactor(b"bench"), _RECORD_BYTES)
    inbox, tree = Inbox(), Tree()
    outlet = Outlet(log, on_done=lambda: inbox.put(()))
    chronicle = Chronicle(Release("bench", Meta("bench", 1, 0, 0), tree, sealing))
    chronicle.begin("first_start", now_ms())
    session = ZooKeeperSession(root, inbox)
    loop = Loop(Numbers(), chronicle, Edges(inbox, session, outlet), Limits())
    try:
        return _time(session, lambda: loop.run(lambda published: published, lambda: False))
    finally:
        outlet.close(_PATIENCE_S)
        log.close()


def read_bare(root: str) -> Took:
    """A get of every znode, and children where there are any, as many in flight as the watcher."""
    inbox = Inbox()
    session = ZooKeeperSession(root, inbox)
    return _time(session, lambda: _read_all(session, inbox))


def _read_all(session: ZooKeeperSession, inbox: Inbox) -> None:
    limit = Limits().reads_in_flight
    while not any(isinstance(message, Connected) for message in inbox.take(_PATIENCE_S)):
        pass
    waiting: deque[Request] = deque([Request("get", "/")])
    in_flight = 0
    while waiting or in_flight:
        requests = [waiting.popleft() for _ in range(min(limit - in_flight, len(waiting)))]
        session.send(requests)
        in_flight += len(requests)
        messages = inbox.take(_PATIENCE_S)
        in_flight -= len(messages)
        for message in messages:
            waiting.extend(_follow(message))


def _follow(message: Message) -> list[Request]:
    """The reads that an answer gives rise to."""
    if not isinstance(message, Reply) or message.stat is None:
        return []
    if message.op == "get":
        return [Request("children", message.path)] if message.stat.num_children else []
    prefix = "/" if message.path == "/" else message.path + "/"
    return [Request("get", prefix + name) for name in message.children or ()]


def _time(session: ZooKeeperSession, work: Callable[[], None]) -> Took:
    began, used_s = time.monotonic(), time.process_time()
    session.start()
    try:
        work()
        return Took(time.monotonic() - began, time.process_time() - used_s)
    finally:
        session.close()
