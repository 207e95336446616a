"""The kazoo client under the session: its options, and our connection in the place of kazoo's."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from kazoo.client import KazooClient
from kazoo.hosts import collect_hosts
from kazoo.protocol.paths import normpath
from kazoo.retry import KazooRetry

from watcher.zookeeper.connection import FastConnection
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.memory import ClientState, Listener
from watcher.zookeeper.sockets import Polling
from zklake.errors import ZooKeeperError

# kazoo logs every attempt; we log every change.
_silent = logging.getLogger("watcher.kazoo")
_silent.setLevel(logging.CRITICAL + 1)


def parse_connect(connect: str) -> tuple[str, str]:
    """Split host:port[,host:port…][/chroot] into hosts and chroot (empty for the root)."""
    hosts, _, path = connect.partition("/")
    try:
        collect_hosts(hosts)
        chroot = normpath("/" + path)
    except ValueError as error:
        message = f"{connect!r} is not host:port[,host:port…][/chroot]: {error}"
        raise ZooKeeperError(message) from error
    return hosts, "" if chroot == "/" else chroot


def build_client(
    options: Mapping[str, Any],
    sasl: Mapping[str, str] | None,
    inbox: Inbox,
    memory: ClientState,
    listener: Listener,
) -> tuple[Any, FastConnection]:
    """A client that is not started yet, and its connection."""
    client = KazooClient(
        **options,
        handler=Polling(),
        # kazoo's own default grows to an hour. With 40 % of jitter this stays below 2 s.
        connection_retry=KazooRetry(max_tries=-1, delay=0.1, max_jitter=0.4, max_delay=1.4),
        # A server cut off from its quorum would serve a stale tree.
        read_only=False,
        logger=_silent,
    )
    # kazoo adds to the SASL options: each client gets a copy.
    connection = FastConnection(client, inbox, memory, listener, dict(sasl) if sasl else None)
    client._connection = connection
    return client, connection
