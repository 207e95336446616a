"""How fast a watcher first reads a whole tree, beside a bare reader over the same connection code.

Both run in this process, in turn. The watcher's loop, outlet, redaction and encoding are the real
ones; what it would publish goes nowhere in the one run, and to Kafka in the other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

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
    bare, ours, into_kafka = [], [], []
    read_bare(root)
    for _ in range(pairs):
        bare.append(znodes / read_bare(root))
        ours.append(znodes / _scan(root, Discarded()))
        into_kafka.append(znodes / _scan(root, _open_kafka(stage)))
    return [
        ratio(f"scan ÷ bare reader, {znodes:,} znodes", ours, bare, "≥ 0.8"),
        ratio("the same, published to Kafka", into_kafka, bare),
        Figure("bare reader", bare, "znodes/s"),
        Figure("scan", ours, "znodes/s"),
        Figure("scan, published to Kafka", into_kafka, "znodes/s"),
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


def _scan(root: str, log: Log) -> float:
    """Seconds from the connection to the committed `in_sync`."""
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


def read_bare(root: str) -> float:
    """Seconds for get of every znode, and children where there are any, 1,000 in flight."""
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


def _time(session: ZooKeeperSession, work: Callable[[], None]) -> float:
    began = time.monotonic()
    session.start()
    try:
        work()
        return time.monotonic() - began
    finally:
        session.close()
