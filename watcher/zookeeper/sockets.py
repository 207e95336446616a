"""Sockets as kazoo's connection thread needs them: cheap to wait for, quick to give up."""

from __future__ import annotations

import select
import socket
import ssl
from typing import Any

from kazoo.exceptions import ConnectionDropped
from kazoo.handlers.threading import SequentialThreadingHandler

_RECV_BYTES = 256 << 10
# kazoo would wait a whole session timeout for a host that does not answer at all.
_TCP_CONNECT_S = 5.0


class Polling(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """kazoo's handler with a select that costs no epoll object per call."""

    def select(self, rlist: Any, wlist: Any, xlist: Any, timeout: float | None = None) -> Any:
        """Like select.select, for any file number; an error makes a socket ready."""
        poller = select.poll()
        for sock in rlist:
            poller.register(sock, select.POLLIN)
        for sock in wlist:
            poller.register(sock, select.POLLOUT)
        ready = {fd for fd, _ in poller.poll(None if timeout is None else timeout * 1000)}
        return (
            [sock for sock in rlist if sock.fileno() in ready],
            [sock for sock in wlist if sock.fileno() in ready],
            [],
        )

    def create_connection(self, *args: Any, timeout: float, **options: Any) -> Any:
        """A TCP or TLS connection, within seconds or not at all."""
        return super().create_connection(*args, timeout=min(timeout, _TCP_CONNECT_S), **options)


def receive(sock: socket.socket) -> bytes:
    """What has arrived, up to 256 KiB; empty when it was a false alarm."""
    try:
        chunk = sock.recv(_RECV_BYTES)
        # A TLS record holds 16 KiB, and what OpenSSL has taken in no select will report.
        while isinstance(sock, ssl.SSLSocket) and sock.pending() and len(chunk) < _RECV_BYTES:
            chunk += sock.recv(_RECV_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return b""
    if not chunk:
        raise ConnectionDropped("closed by the server")
    return chunk
