"""Where batches leave: one thread that publishes, so that the core never waits for Kafka."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Any, Protocol

from watcher.log.batch import Batch
from watcher.log.publisher import GaveUp, Publisher
from watcher.log.resume import Resume, read_tree
from watcher.log.standby import wait_for_silence
from watcher.log.topics import ensure_topics

# Written at once after the fence: reading a large tree takes seconds, and a second standby, waiting
# for the same silence, must not take it for silence. The first of two to claim wins nothing: the
# one who fenced last stays, the other learns it here, before it has written any event. A tombstone:
# the tree does not keep it.
CLAIM = Batch(events=[], rows={"#claim": None}, meta=None)


class Log(Protocol):
    """Where events go."""

    def open(self) -> Resume | None:
        """Take the log over and say where to go on; None when told to stop meanwhile."""
        ...

    def publish(self, batch: Batch) -> None:
        """Write one batch; returns when it can no longer be lost."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class KafkaLog:
    """The log of one cluster: topics, standby, fence, resume, publish."""

    def __init__(
        self,
        bootstrap: str,
        client: Mapping[str, Any],
        cluster: str,
        *,
        replication_factor: int | None,
        takeover_after_ms: int,
        take_over: bool,
        once_patience_s: float | None,
        on_state: Callable[[bool, str], None],
        on_abort: Callable[[], None],
        on_standby: Callable[[], None],
        on_warning: Callable[[str], None],
        stopping: Callable[[], bool],
        giving_up: Callable[[], bool],
    ) -> None:
        self._address = (bootstrap, client, cluster)
        self._replication_factor = replication_factor
        self._takeover_after_ms, self._take_over = takeover_after_ms, take_over
        self._patience_s = once_patience_s
        self._on_state, self._on_standby = on_state, on_standby
        self._on_warning, self._on_abort = on_warning, on_abort
        self._stopping, self._giving_up = stopping, giving_up
        self._publisher: Publisher | None = None

    def open(self) -> Resume | None:
        """Fence first, then read: before the fence another watcher may still be writing."""
        for warning in ensure_topics(*self._address, self._replication_factor):
            self._on_warning(warning)
        waited = wait_for_silence(
            *self._address,
            takeover_after_ms=self._takeover_after_ms,
            take_over=self._take_over,
            once=self._patience_s is not None,
            on_standby=self._on_standby,
            stopping=self._stopping,
        )
        if not waited:
            return None
        self._publisher = Publisher(
            *self._address,
            on_state=self._on_state,
            on_abort=self._on_abort,
            stopping=self._giving_up,
            patience_s=self._patience_s,
        )
        self._publisher.fence()
        self._publisher.publish(CLAIM)
        return read_tree(*self._address)

    def publish(self, batch: Batch) -> None:
        """One Kafka transaction."""
        assert self._publisher is not None
        self._publisher.publish(batch)

    def close(self) -> None:
        """Let go in a few seconds."""
        if self._publisher is not None:
            self._publisher.close()


class PrintedLog:
    """`--dry-run`: events go to stdout, nothing is written anywhere."""

    def open(self) -> Resume:
        """There is never an earlier log."""
        return Resume(None, None, "first_start")

    def publish(self, batch: Batch) -> None:
        """Print each event as a line of JSON."""
        try:
            for event in batch.events:
                sys.stdout.write(event.decode() + "\n")
            sys.stdout.flush()
        except BrokenPipeError as error:
            # `| head` has seen enough.
            raise GaveUp("nobody reads what is printed") from error

    def close(self) -> None:
        """Nothing was opened."""


class Outlet:
    """Publishes one batch at a time; `on_done` runs after each, on the outlet's thread."""

    def __init__(self, log: Log, on_done: Callable[[], None]) -> None:
        self.failure: Exception | None = None
        self._log = log
        self._on_done = on_done
        self._batch: Batch | None = None
        self._closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="outlet", daemon=True)
        self._thread.start()

    @property
    def is_idle(self) -> bool:
        """Nothing is under way."""
        return self._batch is None

    def offer(self, batch: Batch) -> None:
        """Publish this next; only when idle."""
        with self._changed:
            assert self._batch is None
            self._batch = batch
            self._changed.notify()

    def close(self, timeout_s: float) -> None:
        """End the thread; a batch under way gets the time to finish."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._batch is None and not self._closing:
                    self._changed.wait()
                batch = self._batch
            if batch is None:
                return
            try:
                self._log.publish(batch)
            except Exception as error:
                # Told to the core, which decides; without it the daemon would hang in silence.
                self.failure = error
            self._batch = None
            self._on_done()
            if self.failure is not None:
                return
