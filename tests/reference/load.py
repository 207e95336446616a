"""A seeded mixed load on plain kazoo: everything a ZooKeeper writer can do, in Kafka-like places.

It knows nothing of the watcher; what it wrote is told by ZooKeeper's own log, not by its counts.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from random import Random
from typing import NamedTuple

from tests.reference.load_kafka import KAFKA_HABITS
from tests.reference.load_oddities import ODDITIES
from tests.reference.load_session import Load, close, connect

ACTIONS = (*KAFKA_HABITS, *ODDITIES)
_ROOTS = (
    "/brokers/ids",
    "/brokers/topics",
    "/consumers",
    "/admin",
    "/config/topics",
    "/controller_epoch",
    "/isr_change_notification",
    "/multi",
    "/wide",
    "/deep",
    "/myapp",
    "/container",
    "/ttl",
    "/sealed",
)


class LoadResult(NamedTuple):
    """What was done (operations by kind) and which paths only the writer may read."""

    counts: Counter[str]
    sealed: frozenset[str]


def run_load(
    hosts: str,
    *,
    seed: int = 1,
    rounds: int = 3,
    duration_s: float = math.inf,
    rate: float = math.inf,
    has_containers: bool = True,
    seals: bool = False,
) -> LoadResult:
    """Every action, shuffled, `rounds` times or for `duration_s`; hosts may end in a chroot."""
    _make_chroot(hosts)
    client = connect(hosts)
    try:
        load = Load(hosts, client, Random(seed), rate, has_containers, seals)
        for path in _ROOTS:
            client.ensure_path(path)
        for _ in range(rounds):
            _run_round(load, duration_s)
        return LoadResult(load.counts, frozenset(load.sealed))
    finally:
        close(client)


def _make_chroot(hosts: str) -> None:
    servers, slash, chroot = hosts.partition("/")
    client = connect(servers)
    client.ensure_path(slash + chroot)
    close(client)


def _run_round(load: Load, duration_s: float) -> None:
    for act in load.dice.sample(ACTIONS, len(ACTIONS)):
        if time.monotonic() - load.started > duration_s:
            return
        act(load)
