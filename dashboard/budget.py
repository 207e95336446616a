"""How many of something may go on at once; one more is refused, never kept waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

# They show whether this process is well: no crowd may keep them from it.
_ALWAYS = ("/healthz", "/readyz", "/metrics")
# It has a budget of its own.
_LIVE = "/live"


class Budget:
    """A number of places. For one event loop: nothing here is locked."""

    def __init__(self, most: int) -> None:
        self.most, self._taken = most, 0

    @contextmanager
    def take(self) -> Iterator[bool]:
        """Whether there is a place; it is given back at the end."""
        is_free = self._taken < self.most
        self._taken += is_free
        try:
            yield is_free
        finally:
            self._taken -= is_free


class Crowd:
    """Refuses requests when too many are under way; behind the guard, so strangers do not count."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._budget = app, Budget(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path == _LIVE or path.startswith(_ALWAYS):
            await self._app(scope, receive, send)
            return
        with self._budget.take() as is_free:
            await (self._app if is_free else refuse(path, "too many ask at once: try again"))(
                scope, receive, send
            )


def refuse(path: str, text: str) -> Response:
    """503, in the form that is expected at that path."""
    again = {"retry-after": "5"}
    if path.startswith("/api/"):
        return JSONResponse({"error": text}, 503, again)
    return PlainTextResponse(f"{text}\n", 503, again)
