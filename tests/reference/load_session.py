"""The load's hands: its sessions, its dice, its pace and what it counted."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kazoo.client import KazooClient


@dataclass
class Load:
    """One writer: its sessions' address, its dice, and what it did."""

    hosts: str
    client: Any
    dice: Random
    # Operations a second; infinity does not wait.
    rate: float
    # Container and TTL nodes: 3.6 and later (TTL only with extendedTypesEnabled).
    has_containers: bool
    seals: bool
    counts: Counter[str] = field(default_factory=Counter)
    sealed: set[str] = field(default_factory=set)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    started: float = field(default_factory=time.monotonic)

    def did(self, what: str, times: int = 1) -> None:
        """Count, and wait when ahead of the asked rate."""
        self.counts[what] += times
        ahead = self.counts.total() / self.rate - (time.monotonic() - self.started)
        if ahead > 0:
            time.sleep(ahead)

    def name(self) -> str:
        """A name this load never used before."""
        return f"{self.dice.getrandbits(32):08x}-{next(self.numbers)}"

    def open_session(self) -> Any:
        """Another session on the same chroot."""
        return connect(self.hosts)

    def value(self) -> bytes:
        """Some JSON; equal values come up."""
        return b'{"version":1,"n":%d}' % self.dice.randrange(100)


def connect(hosts: str, timeout_s: float = 10.0) -> Any:
    """A started client."""
    client = KazooClient(hosts=hosts, timeout=timeout_s)
    client.start(timeout=30)
    return client


def close(client: Any) -> None:
    """End the session: the server removes its ephemerals at once."""
    client.stop()
    client.close()
