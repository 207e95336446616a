"""Following a tree by one persistent recursive watch: ZooKeeper 3.6 and later."""

from __future__ import annotations

from typing import Protocol

from watcher.messages import Reply, Request, WatchEvent, ZnodeStat
from watcher.reader import Reader
from watcher.scan import Scan
from watcher.watch_state import Reading, WatchState


class Watch(Protocol):
    """How a server is asked to report changes, and what follows from its reports."""

    # An audit reads everything again, and a read may arm one more watch.
    allows_audits: bool

    def arm(self) -> None:
        """The connection is new: ask for events."""

    def forget(self) -> None:
        """The connection is gone."""

    def apply_event(self, event: WatchEvent, at_ms: int) -> None:
        """A watch has fired."""

    def apply_value(self, reply: Reply, reading: Reading, at_ms: int) -> None:
        """A znode was read."""

    def apply_children(self, reply: Reply, at_ms: int) -> None:
        """A znode was listed."""


class RecursiveWatch:
    """Each create, delete and change of data is an event of its own."""

    allows_audits = True

    def __init__(self, state: WatchState, reader: Reader) -> None:
        self._state, self._reader = state, reader

    def arm(self) -> None:
        """One watch at the root."""
        self._reader.requests.append(Request("add_watch", "/"))

    def forget(self) -> None:
        """Nothing is remembered."""

    def apply_event(self, event: WatchEvent, at_ms: int) -> None:
        """It takes its place in the log, and waits for its value."""
        self._reader.apply_event(event, at_ms)

    def apply_value(self, reply: Reply, reading: Reading, at_ms: int) -> None:
        """It answers every event of its path that came before it."""
        self._reader.apply_value(reply, reading, at_ms, self._descend)

    def apply_children(self, reply: Reply, at_ms: int) -> None:
        """Only scans list: events name what they are about."""
        if self._state.scan is not None:
            self._state.scan.outstanding -= 1
            self._state.scan.add_children(reply.path, reply.children or ())

    def _descend(self, scan: Scan, path: str, stat: ZnodeStat) -> None:
        if stat.num_children > 0:
            scan.outstanding += 1
            self._reader.list_children(path)
