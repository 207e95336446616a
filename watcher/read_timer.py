"""How long ZooKeeper takes for a read: one at a time is timed, for answers come in order."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import Histogram


class ReadTimer:
    """Counts what is asked and answered on one connection."""

    def __init__(self, seconds: Histogram, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._unanswered = 0
        # Answers up to that of the request that is timed, itself included; 0: none is.
        self._ahead = 0
        self._asked_at = 0.0

    def ask(self, requests: int) -> None:
        """So many are about to be sent."""
        self._unanswered += requests
        if self._ahead == 0:
            self._ahead, self._asked_at = self._unanswered, self._clock()

    def answer(self, replies: int) -> None:
        """So many are answered."""
        self._unanswered -= replies
        if 0 < self._ahead <= replies:
            self._seconds.observe(self._clock() - self._asked_at)
        self._ahead = max(0, self._ahead - replies)

    def forget(self) -> None:
        """The connection is gone, and so is every answer."""
        self._unanswered = self._ahead = 0
