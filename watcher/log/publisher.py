"""Writes batches into the log, each as one Kafka transaction: events and model move together.

Blocks until Kafka has committed. Knows nothing of ZooKeeper, nor of what the events mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from watcher.log.batch import Batch, check_sizes
from watcher.log.clients import LIBRDKAFKA, producer_config
from watcher.log.contact import Contact, Presence
from watcher.log.outcome import is_committed
from watcher.log.partition import PartitionReader
from watcher.log.resume import read_last_event
from watcher.log.sender import Sender
from watcher.log.verdict import AbortNeeded, LostTrack, judge_error
from zklake.errors import Fenced, LogError
from zklake.events.topics import name_topics

# One call blocks no longer than this, so that a stop is noticed.
CALL_S = 2.0
CLOSE_S = 3.0
_PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class GaveUp(LogError):
    """Told to stop before Kafka confirmed; the next start finds out whether the batch counts."""


class Publisher:
    """The one writer of a cluster's log: fence, read the tree, then publish batch after batch."""

    def __init__(
        self,
        bootstrap: str,
        client_config: Mapping[str, Any],
        cluster: str,
        *,
        on_state: Callable[[bool, str], None] = lambda connected, reason: None,
        on_abort: Callable[[], None] = lambda: None,
        stopping: Callable[[], bool] = lambda: False,
        patience_s: float | None = None,
    ) -> None:
        """`on_state` hears of each change of `connected`, `on_abort` of each failed transaction;
        while `stopping`, nothing is awaited, and never longer than `patience_s`."""
        self._where = f"the log of {cluster} at {bootstrap}"
        self._contact = Contact(on_state)
        self._on_abort = on_abort
        self._stopping = stopping
        self._patience_s = patience_s
        self._asked_at = time.monotonic()
        self._open_since: float | None = None
        self._topics = name_topics(cluster)
        self._reader_args = (bootstrap, client_config, self._topics.events, CALL_S)
        self._config = producer_config(bootstrap, client_config, f"zklake.{cluster}")
        self._timeout_s = self._config["transaction.timeout.ms"] / 1000
        self._producer = self._make_producer()
        self._presence = Presence(self._topics)
        self._sender = Sender(self._topics, check_stop=self._check_stop, on_slow=self._worry)

    @property
    def connected(self) -> bool:
        """False while Kafka does not do what we ask."""
        return self._contact.connected

    def fence(self) -> None:
        """Shut every earlier watcher of this cluster out, and end its open transaction."""
        self._asked_at = time.monotonic()
        self._call("fence", self._producer.init_transactions)
        self._contact.find()

    def publish(self, batch: Batch) -> None:
        """Commit the batch, however long Kafka is away. After an error, close and resume anew."""
        check_sizes(batch)
        self._asked_at = time.monotonic()
        for pause_s in _pauses():
            try:
                return self._attempt(batch)
            except AbortNeeded as error:
                self._contact.lose(str(error))
            except LostTrack as error:
                self._contact.lose(str(error))
                self._renew(batch)
            self._on_abort()
            if self._counts(batch):
                return self._contact.find()
            self._pause(pause_s)

    def close(self) -> None:
        """Let go in a few seconds; a transaction that stays open is ended by the next fence."""
        if self._open_since is not None and self.connected:
            with suppress(KafkaException, SystemError):
                self._producer.abort_transaction(CLOSE_S)
        self._empty()

    def _attempt(self, batch: Batch) -> None:
        self._call("begin", lambda timeout_s: self._producer.begin_transaction())
        self._open_since = time.monotonic()
        try:
            self._sender.send(self._producer, batch)
            self._commit()
        except AbortNeeded:
            self._call("abort", self._producer.abort_transaction)
            self._open_since = None
            raise
        self._contact.find()

    def _commit(self) -> None:
        # After a timeout the same call again asks for the outcome of the same commit.
        self._call("commit", self._producer.commit_transaction)
        self._open_since = None

    def _renew(self, batch: Batch) -> None:
        self._counts(batch)  # raises Fenced when another watcher writes: it shall not be shut out
        self._empty()
        self._producer = self._make_producer()
        self._call("fence", self._producer.init_transactions)
        self._open_since = None

    def _counts(self, batch: Batch) -> bool:
        """Whether the batch was committed all the same, and only the answer got lost."""
        for pause_s in _pauses():
            self._presence.check(self._producer, CALL_S)
            try:
                with PartitionReader(*self._reader_args) as events:
                    last = read_last_event(events)
                break
            except LogError as error:
                self._contact.lose(str(error))
            self._pause(pause_s)
        return is_committed(batch, last)

    def _worry(self, reason: str) -> None:
        # Records for a topic that was deleted wait for ever, and nobody complains.
        self._contact.lose(reason)
        self._presence.check(self._producer, CALL_S)

    def _empty(self) -> None:
        """Drop what is queued, else the client waits for it when it goes."""
        # A fenced client raises from every call, also from these.
        with suppress(KafkaException, SystemError):
            self._producer.purge()
            self._producer.flush(CLOSE_S)

    def _make_producer(self) -> Producer:
        return Producer(self._config | {"error_cb": self._contact.note}, logger=LIBRDKAFKA)

    def _call(self, what: str, call: Callable[[float], None]) -> None:
        for pause_s in _pauses():
            try:
                return call(CALL_S)
            except KafkaException as error:
                self._weigh(what, error.args[0])
                self._hear()
                self._contact.lose(f"{what}: {error.args[0].str()}")
            except SystemError:
                # A report came in while a fatal error was being raised: the next call raises it.
                self._contact.lose(what)
            self._pause(pause_s)

    def _weigh(self, what: str, error: KafkaError) -> None:
        """Return when the same call may be made again; raise otherwise."""
        verdict = judge_error(error)
        reason = f"{what}: {error.str()}"
        if verdict == "abort":
            raise AbortNeeded(reason)
        if verdict == "lost":
            raise LostTrack(reason)
        if verdict == "fenced" and not self._has_expired():
            raise Fenced(f"another watcher took over {self._where} ({reason})")
        if verdict == "fenced":
            raise LogError(f"{self._where} gave up our transaction after {self._timeout_s:.0f} s")
        if verdict == "refused":
            raise LogError(f"{self._where} refused: {reason}")

    def _has_expired(self) -> bool:
        """Open too long, a transaction is ended by the broker: no other watcher is needed."""
        opened_at = self._open_since
        return opened_at is not None and time.monotonic() - opened_at > self._timeout_s

    def _hear(self) -> None:
        """Let error_cb report why a call timed out: init, commit and abort do not call it."""
        with suppress(KafkaException, SystemError):
            self._producer.poll(0)

    def _pause(self, seconds: float) -> None:
        self._check_stop()
        time.sleep(seconds)

    def _check_stop(self) -> None:
        trouble = self._contact.trouble or "no answer"
        if self._stopping():
            raise GaveUp(f"stopped before {self._where} confirmed: {trouble}")
        limit_s = self._patience_s
        if limit_s is not None and time.monotonic() - self._asked_at > limit_s:
            raise LogError(
                f"{self._where} was away for {limit_s:.0f} s ({trouble}): --once gives up "
                "(watcher.once_patience_s)"
            )


def _pauses() -> Iterator[float]:
    yield from _PAUSES_S
    while True:
        yield _PAUSES_S[-1]
