"""What a connection shares with the session that owns it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from watcher.messages import Connected
from zklake.events.envelope import GapReason


@dataclass
class ClientState:
    """What outlives a connection, and even a client."""

    # The highest zxid seen. Offered at connect: a server that is behind it must refuse us.
    zxid: int = 0
    # Connects in a row that a server accepted and then dropped without a word.
    refusals: int = 0
    # Servers that know no AddWatch, with the time at which to ask them again.
    one_shot_until: dict[str, float] = field(default_factory=dict)
    connections: int = 0


class Listener(Protocol):
    """Told on the connection thread: must neither block nor raise."""

    def on_connected(self, message: Connected) -> None:
        """A connection is up."""

    def on_away(self, reason: GapReason, error: str) -> None:
        """A connection broke, or an attempt failed."""
