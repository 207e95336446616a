"""Waits at the end of the log until there is something to fold.

A batch of Spark's costs a tenth of a second of two cores, also for one heartbeat; and left to
itself Spark asks Kafka a hundred times a second whether there is news. A consumer that waits for
the next record costs next to nothing, and knows of it within milliseconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from confluent_kafka import Consumer, TopicPartition

from streaming.log.identity import LIBRDKAFKA_LOGGER, make_reader_options

# No value can hold this: its quotes would be escaped.
_HEARTBEAT = b'"op":"heartbeat"'
_POLL_S = 0.2
# What happens together reaches the log in two or three transactions: one batch is enough for it.
_BUNDLE_S = 0.03
# So long heartbeats alone are left lying: then they are folded together.
_QUIET_S = 10.0


class Doorbell:
    """One consumer, idle except while somebody waits."""

    def __init__(self, bootstrap: str, client: Mapping[str, str], topic: str) -> None:
        self._topic = topic
        options = make_reader_options(bootstrap, client) | {"enable.partition.eof": False}
        self._consumer = Consumer(options, logger=LIBRDKAFKA_LOGGER)
        # Whether all but heartbeats is folded.
        self.is_waiting = False

    def close(self) -> None:
        """Let go of Kafka."""
        self._consumer.close()

    def wait(self, offset: int, stop: threading.Event, *, for_heartbeats: bool) -> None:
        """Until the log has something from that offset on, but for heartbeats if not wanted.

        Not for ever: whether Kafka is away is for others to find out.
        """
        deadline = time.monotonic() + _QUIET_S
        self._consumer.assign([TopicPartition(self._topic, 0, offset)])
        self.is_waiting = True
        try:
            while time.monotonic() < deadline and not stop.is_set():
                message = self._consumer.poll(_POLL_S)
                if message is None:
                    continue
                if message.error() is not None:
                    stop.wait(_POLL_S)
                elif for_heartbeats or _HEARTBEAT not in (message.value() or b""):
                    stop.wait(_BUNDLE_S)
                    return
        finally:
            self.is_waiting = False
            self._consumer.unassign()  # else it goes on fetching ahead
