"""How long a watcher that shall come and go waits for servers that are away."""

from __future__ import annotations

import time

from zklake.errors import ZklakeError


class OnceTimeout:
    """How long `--once` waits for servers that are away."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Everybody is there."""
        self._since = time.monotonic()

    def wait_for(self, whom: str, kind: type[ZklakeError], error: str) -> None:
        """Raise when it has taken too long."""
        if time.monotonic() - self._since > self._seconds:
            raise kind(
                f"{whom} was away for {self._seconds:.0f} s ({error or 'no answer'}): "
                "--once gives up (watcher.once_patience_s)"
            )
