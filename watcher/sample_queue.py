"""Samples on their way into the log: they wait for the end of a run of deletes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from watcher.drafts import draft_sample
from watcher.messages import DELETED, Sampled, WatchEvent
from watcher.release import Release, Slot
from zklake.events.envelope import SESSION_RUN_MS

# A storm of deletes does not keep samples back for longer.
LONGEST_RUN_MS = 5000


class SampleQueue:
    """Samples in the order in which they came, each with the time since when it waits."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._waiting: deque[tuple[Sampled, int]] = deque()
        # When the last watch event came, if it was a delete.
        self._deleted_at_ms = 0

    def note_event(self, event: WatchEvent, at_ms: int) -> None:
        """A delete may be one of a run."""
        self._deleted_at_ms = at_ms if event.type == DELETED else 0

    def add(self, message: Sampled, at_ms: int) -> None:
        """Samples of one round."""
        self._waiting.append((message, at_ms))

    def clear(self) -> None:
        """They will not be published."""
        self._waiting.clear()

    def emit_due(self, at_ms: int) -> None:
        """Not within a run of deletes: unbroken, it is the end of one session."""
        # The clock may step back: then nothing waits.
        in_run = 0 <= at_ms - self._deleted_at_ms < SESSION_RUN_MS
        while self._waiting:
            message, since_ms = self._waiting[0]
            if in_run and 0 <= at_ms - since_ms < LONGEST_RUN_MS:
                return
            self._waiting.popleft()
            drafts = [draft_sample(sample) for sample in message.samples]
            self._release.append(Slot(at_ms, drafts, partial(_call, message.on_released)))


def _call(released: Callable[[], None], at_ms: int) -> None:
    released()
