"""kazoo's connection with our own reads and sends: many frames per recv, many requests per send.

kazoo still connects, keeps the session, authenticates and pings. Runs on kazoo's connection thread
and only puts messages into the inbox: it knows nothing of the tree or of what is done with them.
"""

from __future__ import annotations

import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kazoo.exceptions import (
    AuthFailedError,
    ConnectionDropped,
    SessionClosedRequireSaslError,
    SessionExpiredError,
)
from kazoo.protocol.connection import AUTH_XID, ConnectionHandler
from kazoo.protocol.serialization import Auth, ReplyHeader

from watcher.messages import Connected, Disconnected, Request
from watcher.zookeeper.frames import LAST_XID, SESSION_EXPIRED, FrameError, FrameReader, encode
from watcher.zookeeper.greeting import Greeting, greet
from watcher.zookeeper.inbox import NO_CONNECTION, Inbox
from watcher.zookeeper.memory import ClientState, Listener
from watcher.zookeeper.sockets import receive
from zklake.events.envelope import GapReason

# With so many answers outstanding, waiting for more of them to come in costs no time: the server is
# busy. Taken one by one they would cost a dozen system calls and thread switches each.
_MANY_ASKED = 100
_GATHER_S = 0.002


class FastConnection(ConnectionHandler):  # type: ignore[misc]  # kazoo has no types
    """kazoo's ConnectionHandler; the methods named as kazoo's are called by kazoo's loop."""

    def __init__(
        self, client: Any, inbox: Inbox, memory: ClientState, listener: Listener, sasl_options: Any
    ) -> None:
        """Takes the place of `client._connection`, before the client is started."""
        super().__init__(client, client._conn_retry.copy(), client.logger, sasl_options)
        self.server = ""
        self.is_open = False
        # The server refused our credentials: kazoo gives up for good.
        self.is_unwanted = False
        self._parting: GapReason = "disconnected"
        self.memory = memory
        self._xid: int
        self._inbox = inbox
        self._listener = listener
        self._reader = FrameReader()
        self._outbox: deque[tuple[int, Sequence[Request]]] = deque()
        self._is_woken = False
        self._error = ""
        self._heard_at = 0.0

    def ask(self, connection: int, requests: Sequence[Request]) -> None:
        """Queue requests for one connection, from any thread; dropped if another one is up."""
        self._outbox.append((connection, requests))
        # One byte per batch: the pair of sockets holds 278 of them and would then block for ever.
        if not self._is_woken:
            self._is_woken = True
            with suppress(OSError, AttributeError):
                self._write_sock.send(b"\0")

    def part(self, reason: GapReason) -> None:
        """Say why the connection is about to be closed by us."""
        self._parting, self._error = reason, "closed by the watcher"

    def cut(self) -> None:
        """Break the TCP connection, from any thread."""
        with suppress(OSError, TypeError):
            # Not SSLSocket.shutdown: it drops the TLS state under the connection thread's feet.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def start(self) -> None:
        """Start the connection thread; waking it never blocks."""
        super().start()
        self._read_sock.setblocking(False)
        self._write_sock.setblocking(False)

    def _connect_attempt(self, host: str, hostip: str, port: int, retry: Any) -> Any:
        self.server = f"{host}:{port}"
        self._reader = FrameReader()
        try:
            return super()._connect_attempt(host, hostip, port, retry)
        except Exception as error:
            # kazoo's thread ends here; the session's watchdog builds a new client.
            self._error = f"connection thread died: {error!r}"
            raise
        finally:
            self.hang_up()

    def _connect(self, host: str, hostip: str, port: int) -> tuple[float, float]:
        self._await_room()
        refused = self.memory.refusals > 2 * len(self.client.hosts)
        # Without the floor when everyone refuses it: greet() then compares zxids instead.
        self.client.last_zxid = 0 if refused else self.memory.zxid
        try:
            read_ms, connect_ms, greeting = self._enter(host, hostip, port, refused)
        except SessionExpiredError as error:
            self._report_away("session_expired", str(error))
            raise
        except Exception as error:
            self.is_unwanted = isinstance(error, AuthFailedError)
            self.memory.refusals += self._socket is not None
            self._listener.on_away("disconnected", f"{type(error).__name__}: {error}")
            raise
        if greeting.history_reset:
            self._report_away("history_reset", "the ensemble's zxid went back")
        # kazoo derives its read timeout from the granted session timeout: two thirds of it.
        self._begin(round(read_ms * 1.5), greeting.recursive)
        return read_ms, connect_ms

    def _enter(
        self, host: str, hostip: str, port: int, refused: bool
    ) -> tuple[float, float, Greeting]:
        try:
            read_ms, connect_ms = super()._connect(host, hostip, port)
            return read_ms, connect_ms, greet(self, connect_ms / 1000, compare_zxid=refused)
        except SessionClosedRequireSaslError as error:
            # enforce.auth.enabled: whoever has not logged in is sent away at the first request.
            raise AuthFailedError("it requires SASL: correct zookeeper.sasl_*") from error

    def _await_room(self) -> None:
        while not (self._inbox.is_roomy or self.client._stopped.is_set()):
            time.sleep(0.05)

    def _report_away(self, reason: GapReason, error: str) -> None:
        self._inbox.put_change(Disconnected(reason), NO_CONNECTION)
        self._listener.on_away(reason, error)

    def _begin(self, timeout_ms: int, recursive: bool) -> None:
        self.memory.refusals = 0
        self.memory.connections += 1
        self._reader = FrameReader(self.client.chroot, self._xid)
        self._heard_at = time.monotonic()
        self._error = "no answer to pings"
        self.is_open = True
        message = Connected(self.client._session_id, timeout_ms, self.server, recursive)
        self._inbox.put_change(message, self.memory.connections)
        self._listener.on_connected(message)

    def hang_up(self) -> None:
        """Tell that the connection is gone, once."""
        if self.is_open:
            self.is_open = False
            self._outbox.clear()
            self._report_away(self._parting, self._error)
            self._parting = "disconnected"

    def _read_header(self, timeout: float) -> Any:
        if not self._reader.foreign:
            return super()._read_header(timeout)
        frame = self._reader.foreign.popleft()
        header, offset = ReplyHeader.deserialize(frame, 0)
        return header, frame, offset

    def _read_socket(self, read_timeout: float) -> Any:
        reader = self._reader
        if len(reader.asked) >= _MANY_ASKED:
            time.sleep(_GATHER_S)
        try:
            chunk = receive(self._socket)
            messages = reader.feed(chunk)
        except (OSError, FrameError, struct.error, ConnectionDropped) as error:
            self._error = str(error)
            raise ConnectionDropped(self._error) from error
        if messages:
            self._inbox.put(messages, len(chunk))
        self.memory.zxid = max(self.memory.zxid, reader.zxid)
        self._heard_at = time.monotonic()
        self._check_end()
        response = None
        while reader.foreign:
            response = super()._read_socket(read_timeout)
        return response

    def _check_end(self) -> None:
        if self._reader.fatal is not None:
            self._error = f"the server answered error {self._reader.fatal}"
            if self._reader.fatal == SESSION_EXPIRED:
                self._parting = "session_expired"
                raise SessionExpiredError(self._error)
            raise ConnectionDropped(self._error)
        if self._inbox.is_full:
            # Not reading on would make the events wait in the heap of the server.
            self._parting, self._error = "backpressure", "too many messages wait for the core"
            raise ConnectionDropped(self._error)

    def _send_request(self, read_timeout: float, connect_timeout: float) -> None:
        with suppress(BlockingIOError):
            self._read_sock.recv(4096)
        # Before the outbox is emptied: who appends after that sees the flag down, and wakes.
        self._is_woken = False
        # First: what is asked after a credential was added must be asked with it.
        while self.client._queue:
            self._send_foreign(connect_timeout)
        batch: list[Request] = []
        while self._outbox:
            connection, requests = self._outbox.popleft()
            # After a Close nothing is answered any more.
            if connection == self.memory.connections and not self.client._stopped.is_set():
                batch += requests
        if batch:
            self._send_batch(batch, read_timeout, connect_timeout)

    def _send_batch(
        self, batch: list[Request], read_timeout: float, connect_timeout: float
    ) -> None:
        # Sending counts as a ping for kazoo, so a mute server would go unnoticed while we ask.
        if self._reader.asked and time.monotonic() - self._heard_at > read_timeout:
            self._error = "no answer within the read timeout"
            raise ConnectionDropped(self._error)
        frames, self._xid = encode(batch, self._xid, self.client.chroot)
        self._reader.asked.extend(batch)
        self._write(frames, connect_timeout)

    def _send_foreign(self, connect_timeout: float) -> None:
        request, result = self.client._queue.popleft()
        xid = AUTH_XID
        if request.type != Auth.type:
            self._xid = xid = self._xid % LAST_XID + 1
        self._submit(request, connect_timeout, xid)
        self.client._pending.append((request, result, xid))
