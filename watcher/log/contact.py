"""Whether the log's Kafka answers, and whether our topics are there: logged once per change."""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Producer

from zklake.errors import LogError
from zklake.events.topics import Topics

# A broker that has just started denies every topic for a moment.
GONE_AFTER_S = 20.0


class Contact:
    """Connected or not, and why not."""

    def __init__(self, on_state: Callable[[bool, str], None]) -> None:
        self.connected = False
        self.trouble = ""
        self._on_state = on_state

    def note(self, error: KafkaError) -> None:
        """Keep the client's complaint; «all brokers down» says less than the one before."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN or not self.trouble:
            self.trouble = error.str()

    def lose(self, reason: str) -> None:
        """Kafka does not do what we ask."""
        if self.connected:
            self.connected = False
            self._on_state(False, self.trouble or reason)

    def find(self) -> None:
        """Kafka has done what we asked."""
        self.trouble = ""
        if not self.connected:
            self.connected = True
            self._on_state(True, "")


class Presence:
    """Whether our topics are still there."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._missing_since: float | None = None

    def check(self, producer: Producer, timeout_s: float) -> None:
        """Raise LogError when one stays away; the next start makes it, a base frame fills it."""
        # All are asked for, since asking for one by name may create it.
        try:
            known = producer.list_topics(timeout=timeout_s).topics
        except (KafkaException, SystemError):  # away, or fenced: others find out
            return
        missing = [topic for topic in self._topics if topic not in known]
        if not missing:
            self._missing_since = None
            return
        self._missing_since = self._missing_since or time.monotonic()
        if time.monotonic() - self._missing_since > GONE_AFTER_S:
            raise LogError(f"topic {' and '.join(missing)} is gone; start the watcher again")
