"""The two questions to a server before a connection counts: which watches, and which history.

Asked on the connection itself, so that they work through TLS, with SASL and without `srvr`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from kazoo.exceptions import (
    ConnectionDropped,
    SessionClosedRequireSaslError,
    UnimplementedError,
    ZookeeperError,
)
from kazoo.protocol.serialization import Sync, int_struct, write_string

if TYPE_CHECKING:
    from watcher.zookeeper.connection import FastConnection

# A path nobody creates: the watch on it does not fire, and ends with the connection. Inside the
# chroot, so that an event of it would be one of the tree that is watched anyway.
PROBE_PATH = "/zklake-asks-for-AddWatch"
_ASK_AGAIN_S = 3600.0


class Greeting(NamedTuple):
    """What is known of a server."""

    recursive: bool
    history_reset: bool


class AddWatch:
    """kazoo 2.11 has no such request: path, and mode 1 for persistent and recursive."""

    type = 106

    def __init__(self, path: str) -> None:
        """`path` is absolute: no chroot is put before it."""
        self.path = path

    def serialize(self) -> bytes:
        """The body of the request."""
        return bytes(write_string(self.path)) + bytes(int_struct.pack(1))


def greet(connection: FastConnection, timeout: float, *, compare_zxid: bool) -> Greeting:
    """Ask what must be known before the connection is used."""
    reset = compare_zxid and _went_back(connection, timeout)
    return Greeting(_knows_add_watch(connection, timeout), reset)


def _went_back(connection: FastConnection, timeout: float) -> bool:
    # After a sync even a lagging follower answers with what the leader had committed; a zxid
    # below the floor is then another history: a restored backup, or an ensemble made anew.
    connection._xid += 1
    zxid = connection._invoke(timeout, Sync(connection.client.chroot or "/"), connection._xid) or 0
    if zxid >= connection.memory.zxid:
        return False
    connection.memory.zxid = zxid
    return True


def _knows_add_watch(connection: FastConnection, timeout: float) -> bool:
    memory = connection.memory
    if memory.one_shot_until.get(connection.server, 0.0) > time.monotonic():
        return False
    connection._xid += 1
    try:
        connection._invoke(
            timeout, AddWatch(connection.client.chroot + PROBE_PATH), connection._xid
        )
    except UnimplementedError as error:
        # Before 3.6; the server closes the session with that answer. It may be upgraded one day.
        memory.one_shot_until[connection.server] = time.monotonic() + _ASK_AGAIN_S
        connection.client._reset_session()
        raise ConnectionDropped(
            "no AddWatch here: connecting again for one-shot watches"
        ) from error
    except SessionClosedRequireSaslError:
        raise
    except ZookeeperError:
        # A server with WatchManagerOptimized knows the request and refuses it.
        return False
    return True
