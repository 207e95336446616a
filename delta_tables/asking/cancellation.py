"""Who asked may leave: then what works for them is stopped, and its place is free."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """Told once, by any thread; what runs is stopped then, and nothing new begins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody wants the answer any more."""
        return self._is_cancelled

    def cancel(self) -> None:
        """Stop what runs. What is done already does not notice."""
        with self._lock:
            self._is_cancelled = True
            stops, self._stops = self._stops, []
        for stop in stops:
            stop()

    def add(self, stop: Callable[[], None]) -> None:
        """Call `stop` when it is cancelled: at once, when it was before."""
        with self._lock:
            if not self._is_cancelled:
                self._stops.append(stop)
                return
        stop()

    def remove(self, stop: Callable[[], None]) -> None:
        """It is over: there is nothing to stop."""
        with self._lock:
            if stop in self._stops:
                self._stops.remove(stop)

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """`stop` is called if it is cancelled in the meantime."""
        self.add(stop)
        try:
            yield
        finally:
            self.remove(stop)
