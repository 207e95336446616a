"""One ZooKeeper session for the watcher: kept alive, rebuilt when kazoo gives up, never written to.

Messages go into the inbox in the order of the wire. Between two `Connected` there is always a
`Disconnected`; a second one in a row only sharpens the reason (`session_expired` and
`history_reset` are learnt when the server is back). No answer outlives its connection.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Event, Thread, Timer
from typing import Any, Literal

import structlog

from watcher.messages import Connected, Request
from watcher.zookeeper.client import build_client, parse_connect
from watcher.zookeeper.connection import FastConnection
from watcher.zookeeper.inbox import NO_CONNECTION, Inbox
from watcher.zookeeper.memory import ClientState
from zklake.errors import ZooKeeperError
from zklake.events.envelope import GapReason
from zklake.zookeeper_sasl import find_missing

log = structlog.get_logger()

_WATCHDOG_S = 0.25
_REBUILD_S, _REBUILD_MAX_S = 0.5, 30.0
# A server that does not answer the closing of the session is cut off after this long.
_CLOSE_S = 2.0


class ZooKeeperSession:
    """Watches over one kazoo client. Every method returns at once, except `close`."""

    def __init__(
        self,
        connect: str,
        inbox: Inbox,
        *,
        session_timeout_ms: int = 30_000,
        auth: Sequence[tuple[str, str]] = (),
        sasl: Mapping[str, str] | None = None,
        tls: bool = False,
        tls_ca: str | None = None,
        tls_certfile: str | None = None,
        tls_keyfile: str | None = None,
        tls_keyfile_password: str | None = None,
        tls_verify: bool = True,
        tls_check_hostname: bool = True,
        zxid_floor: int = 0,
    ) -> None:
        """`connect` is host:port[,…][/chroot]; `auth` holds (scheme, credential)."""
        hosts, self.chroot = parse_connect(connect)
        if sasl and (missing := find_missing(sasl["mechanism"])):
            raise ZooKeeperError(": ".join(missing))
        self.last_error = ""
        self._inbox = inbox
        self._memory = ClientState(zxid=zxid_floor)
        self._session_timeout_ms = session_timeout_ms
        self._auth, self._sasl = set(auth), sasl
        self._options: dict[str, Any] = {
            "hosts": hosts + self.chroot,
            "timeout": session_timeout_ms / 1000,
            "use_ssl": tls,
            "ca": tls_ca,
            "certfile": tls_certfile,
            "keyfile": tls_keyfile,
            "keyfile_password": tls_keyfile_password,
            "verify_certs": tls_verify,
            "check_hostname": tls_verify and tls_check_hostname,
        }
        self._wanted: Literal["open", "let_go", "closed"] = "open"
        self._parting: GapReason = "disconnected"
        self._client: Any = None
        self._connection: FastConnection | None = None
        self._rebuild_s, self._build_at = _REBUILD_S, 0.0
        self._said_away = False
        self._stir = Event()
        self._keeper = Thread(target=self._keep, name="zookeeper-keeper", daemon=True)

    @property
    def connected(self) -> bool:
        """A connection is up, authenticated and greeted."""
        return self._connection is not None and self._connection.is_open

    @property
    def server(self) -> str | None:
        """host:port of the server we are connected to, or tried last."""
        return self._connection.server if self._connection else None

    @property
    def last_zxid_seen(self) -> int:
        """The highest zxid in any answer or event so far."""
        return self._memory.zxid

    def start(self) -> None:
        """Begin to connect, and go on for ever."""
        self._keeper.start()

    def send(self, requests: Sequence[Request]) -> None:
        """Ask, on the connection of the `Connected` the core took last; else drop silently."""
        connection = self._connection
        if connection is not None and self._inbox.believed != NO_CONNECTION:
            connection.ask(self._inbox.believed, requests)

    def let_go(self, reason: GapReason = "backpressure") -> None:
        """Close the session cleanly and stay away until `resume`."""
        self._want("let_go", reason)

    def resume(self) -> None:
        """Connect again, with a new session."""
        self._want("open", "disconnected")

    def close(self, timeout: float = 10.0) -> None:
        """Close the session for good."""
        self._want("closed", "restart")
        if self._keeper.is_alive():
            self._keeper.join(timeout)

    def renew_auth(self, scheme: str, credential: str) -> None:
        """Add a credential, on the live connection too."""
        self._auth.add((scheme, credential))
        if self._client is not None:
            self._client.add_auth_async(scheme, credential)

    def on_connected(self, message: Connected) -> None:
        """Called by the connection thread."""
        self._said_away, self._rebuild_s, self.last_error = False, _REBUILD_S, ""
        log.info(
            "zookeeper connected",
            server=message.server,
            session_id=hex(message.session_id),
            asked_timeout_ms=self._session_timeout_ms,
            granted_timeout_ms=message.timeout_ms,
            recursive=message.recursive,
        )

    def on_away(self, reason: GapReason, error: str) -> None:
        """Called by the connection thread, at every failed attempt; the first is logged."""
        self.last_error = error
        if self._said_away and reason == "disconnected":
            return
        self._said_away = True
        write = log.warning if self._wanted == "open" else log.info
        write("zookeeper away", server=self.server, reason=reason, error=error)

    def _want(self, wanted: Literal["open", "let_go", "closed"], parting: GapReason) -> None:
        if self._wanted != "closed":
            self._wanted, self._parting = wanted, parting
            self._stir.set()

    def _keep(self) -> None:
        """The watchdog: builds, rebuilds and shuts the client, so that no other thread waits."""
        wanted = ""
        while wanted != "closed":
            wanted = self._wanted
            try:
                self._step(wanted)
            except Exception:
                # Whatever it was, the next round tries again: without a keeper nobody would.
                log.exception("zookeeper client cannot be built", server=self.server)
            if wanted != "closed":
                self._stir.wait(_WATCHDOG_S)
                self._stir.clear()

    def _step(self, wanted: str) -> None:
        if self._client is not None and (wanted != "open" or not self._is_alive()):
            self._shut(was_wanted=wanted != "open")
        if wanted == "open" and self._client is None and time.monotonic() >= self._build_at:
            self._build_at = time.monotonic() + self._rebuild_s
            self._build()

    def _is_alive(self) -> bool:
        thread = self._connection and self._connection._connection_routine
        return thread is not None and bool(thread.is_alive())

    def _build(self) -> None:
        options = {**self._options, "auth_data": set(self._auth)}
        self._client, self._connection = build_client(
            options, self._sasl, self._inbox, self._memory, self
        )
        self._client.start_async()

    def _shut(self, *, was_wanted: bool) -> None:
        client, connection = self._client, self._connection
        assert connection is not None
        if was_wanted:
            connection.part(self._parting)
        else:
            self._blame(connection)
        cutter = Timer(_CLOSE_S, connection.cut)
        cutter.start()
        with suppress(Exception):
            client.stop()
            client.close()
        cutter.cancel()
        connection.hang_up()
        self._client = None

    def _blame(self, connection: FastConnection) -> None:
        what = "refused our credentials" if connection.is_unwanted else "connection thread ended"
        log.error(
            f"zookeeper {what}",
            server=connection.server,
            error=self.last_error,
            next_try_s=self._rebuild_s,
        )
        self._build_at = time.monotonic() + self._rebuild_s
        self._rebuild_s = min(2 * self._rebuild_s, _REBUILD_MAX_S)
