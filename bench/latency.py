"""From ZooKeeper's answer to the writer, to the event in the hands of a read_committed consumer.

One machine, one clock. The control sends a batch of one event straight through the publisher, to a
log of its own: what a transaction costs, watcher or not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import Self

from kazoo.client import KazooClient

from bench.figures import Figure, percentile
from bench.stage import Stage, connect, name_cluster
from bench.tail import Tail
from bench.znodes import list_states, list_tree, make_state
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.topics import ensure_topics
from zklake.errors import LabError
from zklake.events.envelope import Event, Meta, encode

_RATE = 50
_PATIENCE_S = 30

# The moment at which something happened to an event, by a number that names it.
Times = dict[int, float]


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """p50 and p99 in turns with the control."""
    seconds, rounds = (5, 2) if quick else (20, 3)
    root = stage.make_root(list_tree(1_000))
    ours, floor = [], []
    with stage.watching(root) as (_, tail), connect(root) as client:
        for _ in range(rounds):
            floor.append(_measure_floor(stage, seconds / 2))
            ours.append(_measure_watcher(client, tail, seconds))
    medians = [
        percentile(one, 0.5) / percentile(two, 0.5) for one, two in zip(ours, floor, strict=True)
    ]
    return [
        Figure("p50 ÷ p50 of a bare transaction", medians, "×"),
        Figure(f"p50 at {_RATE} writes/s", [1e3 * percentile(one, 0.5) for one in ours], "ms"),
        Figure("p99", [1e3 * percentile(one, 0.99) for one in ours], "ms"),
        Figure("bare transaction p50", [1e3 * percentile(one, 0.5) for one in floor], "ms"),
        Figure("bare transaction p99", [1e3 * percentile(one, 0.99) for one in floor], "ms"),
    ]


class Receiving:
    """Reads a log on a thread of its own, and notes when each event came."""

    def __init__(self, tail: Tail, name: Callable[[Event], int | None]) -> None:
        self.seen: Times = {}
        self._tail, self._name = tail, name
        self._over = Signal()
        self._thread = Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def compare(self, written: Times) -> list[float]:
        """Seconds from written to seen, once everything has been seen."""
        deadline = time.monotonic() + _PATIENCE_S
        while not written.keys() <= self.seen.keys():
            if time.monotonic() > deadline:
                missing = len(written.keys() - self.seen.keys())
                raise LabError(f"{missing} events did not arrive within {_PATIENCE_S} s")
            time.sleep(0.05)
        return [self.seen[name] - at for name, at in written.items()]

    def _read(self) -> None:
        while not self._over.is_set():
            for _, event in self._tail.read(0.2):
                if (name := self._name(event)) is not None:
                    self.seen.setdefault(name, time.monotonic())


def _measure_watcher(client: KazooClient, tail: Tail, seconds: float) -> list[float]:
    paths = list_states(50)
    acked: Times = {}

    def write(number: int) -> None:
        stat = client.set(paths[number % len(paths)], make_state(number))
        acked[stat.mzxid] = time.monotonic()

    with Receiving(tail, lambda event: event.zxid if event.op == "set" else None) as receiving:
        _pace(write, seconds)
        return receiving.compare(acked)


def _measure_floor(stage: Stage, seconds: float) -> list[float]:
    bootstrap, cluster = stage.cluster.bootstrap, name_cluster()
    ensure_topics(bootstrap, {}, cluster)
    publisher, tail = Publisher(bootstrap, {}, cluster), Tail(bootstrap, cluster)
    publisher.fence()
    sent: Times = {}

    def send(number: int) -> None:
        event = encode(Event("bench", "bench", number, "heartbeat", number))
        sent[number] = time.monotonic()
        publisher.publish(Batch([event], {}, Meta("bench", number, 0, 0)))

    try:
        with Receiving(tail, lambda event: event.seq) as receiving:
            _pace(send, 1)
            sent.clear()  # the first ones wait until everybody has found the new topic
            _pace(send, seconds, first=1_000)
            return receiving.compare(sent)
    finally:
        publisher.close()
        tail.close()


def _pace(act: Callable[[int], None], seconds: float, first: int = 0) -> None:
    """Act at the rate; what comes late is not made up for."""
    began = time.monotonic()
    number = first
    while time.monotonic() - began < seconds:
        act(number)
        number += 1
        time.sleep(1 / _RATE)
