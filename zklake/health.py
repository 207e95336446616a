"""/healthz, /readyz and /metrics over HTTP. It knows nothing of what makes a process ready."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from zklake.errors import ZklakeError

_TEXT = "text/plain; charset=utf-8"


@contextmanager
def serve_health(
    listen: str,
    registry: CollectorRegistry,
    find_obstacle: Callable[[], str | None],
    find_illness: Callable[[], str | None] = lambda: None,
    find_remark: Callable[[], str | None] = lambda: None,
) -> Iterator[str]:
    """Answer at HOST:PORT until left; yields the address. No obstacle: ready; no illness: alive.

    A remark is shown beside `ready`: something to look at although all goes on.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/healthz":
                illness = find_illness()
                self._answer(503 if illness else 200, f"{illness or 'alive'}\n")
            elif self.path == "/readyz":
                obstacle = find_obstacle()
                remark = find_remark()
                ready = f"ready ({remark})" if remark else "ready"
                self._answer(503 if obstacle else 200, f"{obstacle or ready}\n")
            elif self.path == "/metrics":
                self._answer(200, generate_latest(registry).decode(), CONTENT_TYPE_LATEST)
            else:
                self._answer(404, "want /healthz, /readyz or /metrics\n")

        def _answer(self, status: int, text: str, content_type: str = _TEXT) -> None:
            # A path may hold bytes that are no text.
            body = text.encode(errors="backslashreplace")
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Scrapes are no news."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if listen.startswith("[") else socket.AF_INET

    host, _, port = listen.rpartition(":")
    try:
        server = Server((host.strip("[]"), int(port)), Handler)
    except OSError as error:
        raise ZklakeError(
            f"cannot listen at {listen} ({error.strerror}): stop who does, or set another "
            "address (watcher.http, stream.http, alerts.http)"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    try:
        yield f"{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
