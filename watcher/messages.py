"""What goes into the core and what comes out: plain values, no sockets, no clocks.

The ZooKeeper edge hands messages over in the order in which they stood on the connection. Between
`Connected` and `Disconnected` there is exactly one connection: replies never outlive it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from zklake.events.envelope import GapReason
from zklake.events.samples import Sample

# Watch event types and error codes of the ZooKeeper protocol.
CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4
OK, NO_NODE, NO_AUTH = 0, -101, -102


class ZnodeStat(NamedTuple):
    """ZooKeeper's stat in wire order."""

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int
    pzxid: int


class Connected(NamedTuple):
    """A connection is up and authenticated; the watch is not set yet."""

    session_id: int
    timeout_ms: int
    server: str
    # False before ZooKeeper 3.6: no AddWatch, only one-shot watches.
    recursive: bool


class Disconnected(NamedTuple):
    """The connection is gone; whatever was asked and not answered never will be."""

    reason: GapReason


class WatchEvent(NamedTuple):
    """One watch event; zxid is -1 before ZooKeeper 3.9."""

    zxid: int
    type: int
    path: str


class Reply(NamedTuple):
    """An answer, in the order asked. zxid is the server's last processed one, from the header."""

    op: Literal["sync", "add_watch", "get", "children"]
    path: str
    error: int
    zxid: int
    data: bytes | None = None
    stat: ZnodeStat | None = None
    children: list[str] | None = None


class Tick(NamedTuple):
    """A second has passed."""


class Sampled(NamedTuple):
    """What the watched brokers said; `on_released` runs once all of it has its seq."""

    samples: tuple[Sample, ...]
    on_released: Callable[[], None]


Message = Connected | Disconnected | WatchEvent | Reply | Tick | Sampled


class Request(NamedTuple):
    """A read for the ZooKeeper edge. `watch` leaves a one-shot watch (before 3.6 only)."""

    op: Literal["sync", "add_watch", "get", "children"]
    path: str
    watch: bool = False
