"""One Kafka partition, read to its end as a read_committed consumer sees it. Commits no offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from watcher.log.clients import LIBRDKAFKA, consumer_config
from watcher.log.verdict import DENIED
from zklake.errors import LogError

# Nothing new for so long, before the end: Kafka is away.
PATIENCE_S = 60.0
_CHUNK = 10_000
_FIRST_LOOK_BACK = 64

# Passing troubles, healed by librdkafka itself; and a group we never join.
_PASSING = frozenset(
    (
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
    )
)


class PartitionReader:
    """Reads partition 0 of one topic."""

    def __init__(
        self,
        bootstrap: str,
        client_config: Mapping[str, Any],
        topic: str,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.where = f"topic {topic} at {bootstrap}"
        self._topic = topic
        self._patience_s = patience_s
        self._consumer = Consumer(consumer_config(bootstrap, client_config), logger=LIBRDKAFKA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._consumer.close()

    def find_bounds(self) -> tuple[int, int]:
        """The first offset and the one after the last, control records included."""
        partition = TopicPartition(self._topic, 0)
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return self._consumer.get_watermark_offsets(partition, timeout=self._patience_s)
            except KafkaException as error:
                reason = error.args[0]
                if reason.code() not in DENIED or time.monotonic() > deadline:
                    text = f"cannot ask for the end of {self.where}: {reason.str()}"
                    raise LogError(text) from error
            time.sleep(0.1)

    def read_from(self, offset: int) -> Iterator[list[Message]]:
        """Every committed record from `offset` to the end, in chunks."""
        self._consumer.assign([TopicPartition(self._topic, 0, offset)])
        heard_at = time.monotonic()
        while True:
            chunk = self._consumer.consume(_CHUNK, timeout=0.05)
            records = [message for message in chunk if message.error() is None]
            if records:
                heard_at = time.monotonic()
                yield records
            if any(self._is_end(message) for message in chunk if message.error() is not None):
                return
            if time.monotonic() - heard_at > self._patience_s:
                raise LogError(f"{self.where} did not answer for {self._patience_s:.0f} s")

    def _is_end(self, message: Message) -> bool:
        error = message.error()
        assert error is not None
        # The end is where the consumer's position meets the last stable offset. Offsets cannot
        # tell: control records take the last ones, and are never delivered.
        if error.code() == KafkaError._PARTITION_EOF:
            return True
        if error.code() in _PASSING | DENIED or error.retriable():
            return False
        raise LogError(f"cannot read {self.where}: {error.str()}")

    def read_last(self, accept: Callable[[Message], bool]) -> Message | None:
        """The newest committed record that `accept` takes, or None."""
        low, high = self.find_bounds()
        look_back = _FIRST_LOOK_BACK
        while low < high:
            start = max(low, high - look_back)
            last = None
            for chunk in self.read_from(start):
                last = next((message for message in reversed(chunk) if accept(message)), last)
            if last is not None or start == low:
                return last
            look_back *= 4  # control records and aborted transactions fill the end
        return None
