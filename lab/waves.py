"""Messages that come in waves, for ever: more than the readers can read, then less."""

from __future__ import annotations

import math
import random
import threading
import time

from confluent_kafka import Producer

from zklake.supervision.startable import Startable

# Messages a second: `readers` read 18, so they fall behind for one half of each period.
MEAN, SWING, PERIOD_S = 16.0, 12.0, 240.0
_TICK_S = 0.25
_BYTES = 60


def find_rate(elapsed_s: float) -> float:
    """Messages a second at this moment of the wave, which rises at first."""
    return MEAN + SWING * math.sin(2 * math.pi * elapsed_s / PERIOD_S)


class Waves(Startable):
    """A thread that produces; the first partition gets more than its share."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        """Nothing is sent yet."""
        self._topic = topic
        self._partitions = range(partitions)
        self._weights = [2.0] + [1.0] * (partitions - 1)
        self._dice = random.Random()  # noqa: S311
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="waves", daemon=True)
        # Brokers come and go: what they do not take within a minute is lost, and nobody minds.
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "message.timeout.ms": 60_000,
                "log_level": 2,
            }
        )

    def start(self, timeout_s: float = 0.0) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Send nothing more; what is still under way is let go."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        began_s = time.monotonic()
        due = 0.0
        while not self._stopping.wait(_TICK_S):
            due += find_rate(time.monotonic() - began_s) * _TICK_S
            count, due = int(due), due % 1.0
            for partition in self._dice.choices(self._partitions, self._weights, k=count):
                self._send(partition)
            self._producer.poll(0)

    def _send(self, partition: int) -> None:
        try:
            self._producer.produce(self._topic, self._dice.randbytes(_BYTES), partition=partition)
        except BufferError:
            self._producer.poll(0.1)
