"""Serving the dashboard: a port, and a way to stop that leaves no page hanging."""

from __future__ import annotations

import resource
import socket
from contextlib import closing

import uvicorn

from dashboard.app import App
from dashboard.connection import Patience, bind_connections
from zklake.errors import SettingsError


class Server(uvicorn.Server):
    """uvicorn, which would wait for ever for pages that listen for news."""

    def __init__(self, app: App, patience: Patience | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                app.asgi,
                http=bind_connections(patience or Patience()),
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=3,
            )
        )
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first."""
        self._app.live.close()
        await super().shutdown(sockets)


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


def serve(app: App, taken: socket.socket) -> None:
    """Answer until SIGTERM or Ctrl-C."""
    raise_file_limit()
    with closing(taken):
        Server(app).run(sockets=[taken])
