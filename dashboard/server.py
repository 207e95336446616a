"""Serving the dashboard: a port, and a way to stop that leaves no page hanging."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import closing
from functools import partial

import uvicorn

from dashboard.app import App
from dashboard.connection import ConnectionLimits, bind_connections
from dashboard.tls import Tls, check_tls
from zklake.errors import SettingsError


class Server(uvicorn.Server):
    """uvicorn, which would wait for ever for pages that listen for news."""

    def __init__(
        self, app: App, patience: ConnectionLimits | None = None, tls: Tls | None = None
    ) -> None:
        self._patience = patience or ConnectionLimits()
        if tls is not None:
            check_tls(tls)
        super().__init__(
            uvicorn.Config(
                app.asgi,
                http=bind_connections(self._patience),
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=3,
                ssl_certfile=tls.cert if tls else None,
                ssl_keyfile=tls.key if tls else None,
            )
        )
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """A connection knows its deadlines after the handshake only, and that may take a minute."""
        if self.config.is_ssl:
            loop = asyncio.get_running_loop()
            listen = partial(loop.create_server, ssl_handshake_timeout=self._patience.head_s)
            loop.create_server = listen  # type: ignore[method-assign]
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first; the process that reads the lake when nobody asks any more."""
        self._app.live.close()
        await super().shutdown(sockets)
        self._app.close()


def listen(address: str) -> socket.socket:
    """The port, taken; an error names it."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, int(port)))
        taken.listen()
    except OSError as error:
        taken.close()
        raise SettingsError(
            f"the dashboard cannot listen at {address}: {error.strerror}; choose another --http"
        ) from error
    return taken


def raise_file_limit() -> None:
    """As many open files as we may have: 1024, the usual soft limit, are fewer than our budgets."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def serve(app: App, taken: socket.socket, tls: Tls | None = None) -> None:
    """Answer until SIGTERM or Ctrl-C."""
    raise_file_limit()
    with closing(taken):
        Server(app, tls=tls).run(sockets=[taken])
