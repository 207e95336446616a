"""How many messages a slow consumer may read now. No clock of its own."""

from __future__ import annotations

import sys


class Pace:
    """So many a second at most; what was not used in one second is not saved up."""

    def __init__(self, rate: float | None, now_s: float) -> None:
        """Without a rate everything is allowed."""
        self._rate = rate
        self._allowance = 0.0
        self._now_s = now_s

    def allow(self, now_s: float) -> int:
        """How many may be read at this moment."""
        if self._rate is None:
            return sys.maxsize
        earned = (now_s - self._now_s) * self._rate
        self._allowance = min(self._allowance + earned, max(self._rate, 1.0))
        self._now_s = now_s
        return int(self._allowance)

    def spend(self, count: int) -> None:
        """So many were read."""
        self._allowance -= count
