"""Turns at asking the sandbox: a few at a time, a few that wait, and a plain no to all others.

Who waits holds one of the server's threads, and every other page needs those, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from delta_tables.asking.cancellation import Cancellation
from zklake.errors import BusyError, QueryCancelled

# Each runs in a process of its own; more would only wait for a core.
RUNNING = 2
_WAITING = 4
_PATIENCE_S = 10.0


class Turns:
    """Who asks takes one, and gives it back."""

    def __init__(
        self, running: int = RUNNING, waiting: int = _WAITING, patience_s: float = _PATIENCE_S
    ) -> None:
        self._free, self._places, self._patience_s = running, waiting, patience_s
        self._changed = threading.Condition()

    @contextmanager
    def take(self, cancellation: Cancellation) -> Iterator[None]:
        """A turn; BusyError when too many wait already, or when it takes too long to get one."""
        with cancellation.stopping(self._wake):
            self._wait(cancellation)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                # All of the few: one that is just giving up must not keep the news to itself.
                self._changed.notify_all()

    def _wait(self, cancellation: Cancellation) -> None:
        with self._changed:
            if self._free == 0 and self._places == 0:
                raise BusyError("too many queries are waiting already: try again in a moment")
            self._places -= 1
            try:
                self._wait_until_free(cancellation)
            finally:
                self._places += 1
            self._free -= 1

    def _wait_until_free(self, cancellation: Cancellation) -> None:
        is_over = self._changed.wait_for(
            lambda: self._free > 0 or cancellation.is_cancelled, self._patience_s
        )
        if cancellation.is_cancelled:
            raise QueryCancelled("nobody waits for the answer any more")
        if not is_over:
            raise BusyError(
                f"other queries took all of {self._patience_s:g} s: try again in a moment"
            )

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
