"""Where messages wait for the core: filled by the connection thread, emptied by the core thread.

It keeps their order, bounds their memory and knows which connection the core believes in. It knows
nothing of ZooKeeper's protocol.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Condition

from watcher.messages import Connected, Disconnected, Message

# What a message costs beside its bytes on the wire: a tuple, a path, a list slot.
MESSAGE_BYTES = 250
# The number of no connection: what is sent under it goes nowhere.
NO_CONNECTION = 0


class Inbox:
    """A thread-safe, ordered queue of messages, taken in batches."""

    def __init__(self, limit_bytes: int = 256 << 20) -> None:
        """Above `limit_bytes` waiting, the connection lets go until the half is worked off."""
        self.limit_bytes = limit_bytes
        self.waiting_bytes = 0
        # The connection of the last Connected the core took; requests are meant for that one.
        self.believed = NO_CONNECTION
        self._changed = Condition()
        # (messages, bytes, number of the connection from here on: only with a connection change)
        self._batches: deque[tuple[list[Message], int, int | None]] = deque()

    @property
    def is_empty(self) -> bool:
        """Nothing waits."""
        return not self._batches

    @property
    def is_full(self) -> bool:
        """More waits than the limit allows."""
        return self.waiting_bytes > self.limit_bytes

    @property
    def is_roomy(self) -> bool:
        """Less than half of the limit waits."""
        return self.waiting_bytes <= self.limit_bytes // 2

    def put(self, messages: Sequence[Message], wire_bytes: int = 0) -> None:
        """Append messages that belong to no connection change."""
        cost = wire_bytes + MESSAGE_BYTES * len(messages)
        self._append(list(messages), cost, None)

    def put_change(self, message: Connected | Disconnected, connection: int) -> None:
        """Append a connection change; `connection` is the number that holds after it."""
        self._append([message], MESSAGE_BYTES, connection)

    def _append(self, messages: list[Message], cost: int, connection: int | None) -> None:
        with self._changed:
            self._batches.append((messages, cost, connection))
            self.waiting_bytes += cost
            self._changed.notify()

    def take(self, timeout: float | None = None) -> list[Message]:
        """All that waits up to the next connection change; empty after `timeout` seconds.

        A connection change always comes alone, so whatever the core sends while it works on a
        batch is meant for exactly one connection.
        """
        with self._changed:
            if not self._batches:
                self._changed.wait(timeout)
            return self._collect() if self._batches else []

    def _collect(self) -> list[Message]:
        messages, cost, connection = self._batches.popleft()
        self.waiting_bytes -= cost
        if connection is not None:
            self.believed = connection
            return messages
        while self._batches and self._batches[0][2] is None:
            more, cost, _ = self._batches.popleft()
            self.waiting_bytes -= cost
            messages += more
        return messages
