"""The real server on a free port, for what a test client cannot show: streams and browsers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.app import build_app
from dashboard.connection import ConnectionLimits
from dashboard.options import Options
from dashboard.server import Server, listen
from dashboard.tls import Tls


@contextmanager
def serve(
    options: Options,
    patience: ConnectionLimits | None = None,
    *,
    port: int = 0,
    tls: Tls | None = None,
) -> Iterator[str]:
    """Serve until left; yields the address. Leaving must not wait for open pages."""
    taken = listen(f"127.0.0.1:{port}")
    server = Server(build_app(options), patience, tls)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        taken.close()
        assert not thread.is_alive(), "the server did not stop"
