"""Ctrl-C for a command that has processes to end."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Self


class Interrupts:
    """The first Ctrl-C, SIGTERM or hang-up ends the run in order, each further one at once."""

    def __init__(self) -> None:
        self.is_closing = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        from zklake.supervision.child_process import strike_all

        if self.is_closing:
            # No exception: whoever waits for these processes now finds them dead, and goes on.
            strike_all()
            return
        self.is_closing = True
        raise KeyboardInterrupt
