"""Where kazoo's threads leave word for the consumer's one thread, which takes all of it at once."""

from __future__ import annotations

import queue
from contextlib import suppress
from dataclasses import dataclass, field

from kazoo.protocol.states import KazooState


@dataclass
class News:
    """Everything since the last look: many events become one reason to act."""

    changed: set[str] = field(default_factory=set)
    has_lost_connection: bool = False
    # The session expired, and its ephemeral znodes with it.
    has_lost_session: bool = False


class Inbox:
    """Putting never blocks: kazoo's listeners run on the connection thread."""

    def __init__(self) -> None:
        """Empty."""
        # SimpleQueue, because its put may be called in a signal handler.
        self._queue: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()

    def put_change(self, path: str) -> None:
        """A watch has fired."""
        self._queue.put(("changed", path))

    def put_state(self, state: str) -> None:
        """The connection is CONNECTED, SUSPENDED or LOST."""
        self._queue.put(("state", state))

    def wake(self) -> None:
        """Nothing but: look again."""
        self._queue.put(("", ""))

    def take(self, timeout_s: float) -> News:
        """Wait for the first word, then take all there are."""
        news = News()
        with suppress(queue.Empty):
            self._add(news, *self._queue.get(timeout=timeout_s))
            while True:
                self._add(news, *self._queue.get_nowait())
        return news

    def _add(self, news: News, kind: str, word: str) -> None:
        if kind == "changed":
            news.changed.add(word)
        elif word == KazooState.LOST:
            news.has_lost_connection = news.has_lost_session = True
        elif word == KazooState.SUSPENDED:
            news.has_lost_connection = True
