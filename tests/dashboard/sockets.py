"""Sockets of a client that means no good: open and silent, or slow."""

from __future__ import annotations

import http.client
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

# Generous: a machine may be busy, and no test judges how fast something is.
PATIENCE_S = 60.0


def open_socket(address: str, sent: bytes = b"") -> socket.socket:
    """A connection to http://HOST:PORT on which so much is said, and nothing more."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
    connection.sendall(sent)
    return connection


@contextmanager
def open_many(address: str, count: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_socket(address, sent)) for _ in range(count)]


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed it; what it said before is read away."""
    # Not select(): it knows no file above 1023.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    try:
        while poll.poll(0):
            if not connection.recv(65536):
                return True
    except ConnectionError:
        return True
    return False


def get(address: str, path: str, **headers: str) -> tuple[int, str]:
    """Status and text of one answer, on a connection of its own."""
    host = address.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def count_files() -> int:
    """Open files of this process, a server's sockets among them."""
    return len(os.listdir("/proc/self/fd"))


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether it came true in the end."""
    deadline = time.monotonic() + PATIENCE_S
    while not (is_met := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return is_met
