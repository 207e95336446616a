"""A stand-in for the core: takes what the session delivers and remembers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient

from watcher.messages import Connected, Disconnected, Message, Reply, Request, WatchEvent
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession


class Reading:
    """One session, and all it has delivered so far."""

    def __init__(self, connect: str, **options: Any) -> None:
        limit = options.pop("limit_bytes", 256 << 20)
        self.inbox = Inbox(limit)
        self.session = ZooKeeperSession(connect, self.inbox, **options)
        self.all: list[Message] = []

    @property
    def changes(self) -> list[str]:
        """Connected and the reasons of Disconnected, in order."""
        return [
            "connected" if isinstance(message, Connected) else message.reason
            for message in self.all
            if isinstance(message, Connected | Disconnected)
        ]

    @property
    def events(self) -> list[WatchEvent]:
        return [message for message in self.all if isinstance(message, WatchEvent)]

    @property
    def replies(self) -> list[Reply]:
        return [message for message in self.all if isinstance(message, Reply)]

    @property
    def connected(self) -> Connected:
        """The last Connected."""
        return [message for message in self.all if isinstance(message, Connected)][-1]

    def take(self, timeout: float) -> None:
        self.all += self.inbox.take(timeout)

    def wait(self, is_true: Callable[[], bool], timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while not is_true():
            assert time.monotonic() < deadline, f"after {timeout} s: {self.all[-20:]}"
            self.take(0.05)

    def wait_changes(self, *expected: str, timeout: float = 30.0) -> None:
        self.wait(lambda: len(self.changes) >= len(expected), timeout)
        assert self.changes == list(expected)

    def ask(self, *requests: Request) -> list[Reply]:
        """Send, and wait for as many replies."""
        before = len(self.replies)
        self.session.send(requests)
        self.wait(lambda: len(self.replies) >= before + len(requests))
        return self.replies[before:]

    def watch(self) -> None:
        sync, add_watch = self.ask(Request("sync", "/"), Request("add_watch", "/"))
        assert (sync.error, add_watch.error) == (0, 0)


@contextmanager
def reading(connect: str, **options: Any) -> Iterator[Reading]:
    """A session that is started, and closed in the end."""
    result = Reading(connect, **options)
    result.session.start()
    try:
        yield result
    finally:
        result.session.close()


@contextmanager
def writing(connect: str, **options: Any) -> Iterator[KazooClient]:
    """A plain kazoo client."""
    client = KazooClient(connect, timeout=5, **options)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()
