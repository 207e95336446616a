"""A kazoo client that behaves: short back-off, no chatter, an error that says what to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry

from zklake.errors import ZooKeeperError

# kazoo logs every attempt to connect.
_silent = logging.getLogger("lab.kazoo")
_silent.setLevel(logging.CRITICAL + 1)


def build_client(zookeeper: str, session_timeout_ms: int = 6_000) -> Any:
    """A client that is not started yet."""
    return KazooClient(
        zookeeper,
        timeout=session_timeout_ms / 1000,
        # kazoo's own back-off grows to an hour.
        connection_retry=KazooRetry(max_tries=-1, delay=0.1, max_delay=1.0),
        logger=_silent,
    )


def start_client(client: Any, zookeeper: str) -> None:
    """Connect, or say that nobody is there."""
    try:
        client.start(timeout=15)
    except KazooTimeoutError as error:
        close_client(client)
        raise ZooKeeperError(
            f"no ZooKeeper answers at {zookeeper}: start it, or give another --zookeeper"
        ) from error


def open_client(zookeeper: str, session_timeout_ms: int = 6_000) -> Any:
    """A client that is connected; `close_client` ends it."""
    client = build_client(zookeeper, session_timeout_ms)
    start_client(client, zookeeper)
    return client


def find_session_id(client: Any) -> int | None:
    """The session's id; None while the client is not connected."""
    identity = client.client_id
    return None if identity is None else int(identity[0])


def close_client(client: Any) -> None:
    """End the session at once: its ephemeral znodes go with it."""
    client.stop()
    client.close()


@contextmanager
def closing_client(zookeeper: str, session_timeout_ms: int = 6_000) -> Iterator[Any]:
    """`with closing_client(…) as zk:`."""
    client = open_client(zookeeper, session_timeout_ms)
    try:
        yield client
    finally:
        close_client(client)
