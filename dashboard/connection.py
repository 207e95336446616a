"""A connection that must say what it wants: who is silent, slow or deaf is cut off.

uvicorn has a time-out between two requests only, and it ends with the first byte of the next one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True)
class ConnectionLimits:
    """How long a connection may be of no use, and how many such there may be."""

    # Until the whole head of a request is here: the first one, or the next.
    head_s: float = 10.0
    # While an answer waits for a client that does not read it.
    stall_s: float = 30.0
    # Connections without a request; the oldest makes room, once it had the time to say something:
    # of those that come all at once none is heard before all are taken.
    most_silent: int = 256
    grace_s: float = 2.0


class Connection(H11Protocol):
    """uvicorn's, with deadlines. Subclasses are bound to one server: see `bind_connections`."""

    patience: ClassVar[ConnectionLimits]
    # In the order in which they fell silent, and when.
    silent: ClassVar[dict[Connection, float]]

    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The deadline of the first request begins."""
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """A request whose head is complete takes the time it takes."""
        super().handle_events()
        # None before the first request, although uvicorn's types do not say so.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """The deadline of the next request begins; it holds for what is left of a body, too."""
        self._await_request()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._stall = self.loop.call_later(self.patience.stall_s, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again, or is gone."""
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        super().resume_writing()

    def _await_request(self) -> None:
        self._stop_waiting()
        # Not close(): that would wait for a client that does not read.
        self._deadline = self.loop.call_later(self.patience.head_s, self.transport.abort)
        now = self.silent[self] = self.loop.time()
        while len(self.silent) > self.patience.most_silent:
            oldest, since = next(iter(self.silent.items()))
            if now - since < self.patience.grace_s:
                return
            oldest._stop_waiting()
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        self.silent.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def bind_connections(chosen: ConnectionLimits) -> type[Connection]:
    """The connections of one server."""

    class Bound(Connection):
        patience = chosen
        silent: ClassVar[dict[Connection, float]] = {}

    return Bound
