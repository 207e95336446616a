"""The audited part of ZooKeeper's tree, read slowly by a session of its own. Only reading."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry

from auditor.comparison import State, ZnodeTable
from auditor.places import find_place, list_patterns
from zklake.doctor.zookeeper import make_login
from zklake.errors import ZooKeeperError
from zklake.settings.models import ZooKeeperSettings

T = TypeVar("T")
Branch = dict[str, Any]
_ANY = "*"
_CONNECT_S = 30.0


class Tree:
    """What stands in the tree now, at so many reads a second."""

    def __init__(self, client: KazooClient, chroot: str, reads_per_second: int) -> None:
        self._client, self._chroot = client, chroot
        self._pause_s = 1 / reads_per_second
        # What this session may not look at, or not list.
        self.unreadable: set[str] = set()

    def walk(self) -> Iterator[tuple[ZnodeTable, State]]:
        """Every audited znode."""
        yield from self._walk("", _plant(list_patterns()))

    def read(self, path: str) -> State | None:
        """The state of a znode; None: it is not there, or `unreadable` (ZooKeeper 3.9)."""
        try:
            stat = self._ask(lambda: self._client.exists(self._chroot + path))
        except NoAuthError:
            self.unreadable.add(path)
            return None
        return None if stat is None else State(stat.czxid, stat.version)

    def _walk(self, path: str, branch: Branch) -> Iterator[tuple[ZnodeTable, State]]:
        names = {*branch} - {_ANY}
        if _ANY in branch:
            names |= {*self._list(path or "/")}
        for name in sorted(names):
            child = f"{path}/{name}"
            place = find_place(child)
            if place is not None and (state := self.read(child)) is not None:
                yield place, state
            below = {**branch.get(_ANY, {}), **branch.get(name, {})}
            if below:
                yield from self._walk(child, below)

    def _list(self, path: str) -> list[str]:
        try:
            return list(self._ask(lambda: self._client.get_children(self._chroot + path)))
        except NoNodeError:
            return []
        except NoAuthError:
            self.unreadable.add(path)
            return []

    def _ask(self, question: Callable[[], T]) -> T:
        time.sleep(self._pause_s)
        try:
            return question()
        except (NoNodeError, NoAuthError):
            raise
        except (KazooException, KazooTimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise ZooKeeperError(f"ZooKeeper cannot be read any more: {reason}") from error


@contextmanager
def open_tree(own: ZooKeeperSettings, reads_per_second: int) -> Iterator[Tree]:
    """A session with the watcher's own rights."""
    retry = KazooRetry(max_tries=3, delay=0.2, max_delay=1.0)
    client = KazooClient(**make_login(own), connection_retry=retry, command_retry=retry)
    try:
        try:
            client.start(timeout=_CONNECT_S)
        except (KazooException, KazooTimeoutError) as error:
            raise ZooKeeperError(
                f"no ZooKeeper answers at {own.connect}: {error}; `zklake doctor` says more"
            ) from error
        chroot = own.connect.partition("/")[2].strip("/")
        yield Tree(client, f"/{chroot}" if chroot else "", reads_per_second)
    finally:
        client.stop()
        client.close()


def _plant(patterns: list[str]) -> Branch:
    """The patterns as one tree of names: what must be listed, and what is known by name."""
    root: Branch = {}
    for pattern in patterns:
        branch = root
        for segment in pattern.split("/")[1:]:
            branch = branch.setdefault(_ANY if "[" in segment else segment, {})
    return root
