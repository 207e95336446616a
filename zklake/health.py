"""/healthz, /readyz and /metrics over HTTP. It knows nothing of what makes a process ready."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from zklake.errors import ZklakeError
from zklake.probes import HttpAnswer, ProbeServer, ProbeTimeouts


@contextmanager
def serve_health(
    listen: str,
    registry: CollectorRegistry,
    find_obstacle: Callable[[], str | None],
    find_illness: Callable[[], str | None] = lambda: None,
    find_remark: Callable[[], str | None] = lambda: None,
    *,
    patience: ProbeTimeouts = ProbeTimeouts(),
) -> Iterator[str]:
    """Answer at HOST:PORT until left; yields the address. No obstacle: ready; no illness: alive.

    A remark is shown beside `ready`: something to look at although all goes on.
    """

    def answer(path: str) -> HttpAnswer:
        match path:
            case "/healthz":
                illness = find_illness()
                return HttpAnswer(503 if illness else 200, f"{illness or 'alive'}\n")
            case "/readyz":
                obstacle = find_obstacle()
                remark = find_remark()
                ready = f"ready ({remark})" if remark else "ready"
                return HttpAnswer(503 if obstacle else 200, f"{obstacle or ready}\n")
            case "/metrics":
                return HttpAnswer(200, generate_latest(registry).decode(), CONTENT_TYPE_LATEST)
        return HttpAnswer(404, "use /healthz, /readyz or /metrics\n")

    host, _, port = listen.rpartition(":")
    family = socket.AF_INET6 if listen.startswith("[") else socket.AF_INET
    try:
        taken = socket.create_server((host.strip("[]"), int(port)), family=family)
    except OSError as error:
        raise ZklakeError(
            f"cannot listen at {listen} ({error.strerror}): stop who does, or set another "
            "address (watcher.http, stream.http, alerts.http, audit.http)"
        ) from error
    server = ProbeServer(taken, answer, patience)
    server.start()
    try:
        yield f"{host}:{taken.getsockname()[1]}"
    finally:
        server.stop()
