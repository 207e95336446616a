"""How the notifier itself is doing, for /readyz and /metrics: who tells that nobody tells?"""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge

from alerts.journal import Journal


class Vitals:
    """Numbers of one notifier; each is set after a look."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.obstacle: str | None = "not checked yet"
        self._open = Gauge(
            "zklake_alerts_open_incidents",
            "Incidents that are open",
            ["rule"],
            registry=self.registry,
        )
        self._waiting = Gauge(
            "zklake_alerts_waiting_messages",
            "Messages that are not sent yet",
            ["notifier"],
            registry=self.registry,
        )
        self._given_up = Counter(
            "zklake_alerts_given_up_messages", "Messages given up", registry=self.registry
        )
        self._looked = Gauge(
            "zklake_alerts_last_look_timestamp_seconds",
            "When the lake was last read",
            registry=self.registry,
        )

    def note(self, journal: Journal, rules: list[str], notifiers: list[str], given_up: int) -> None:
        """After a look that could read the lake."""
        known = [one.rule for one in journal.list_open()]
        for rule in rules:
            self._open.labels(rule).set(known.count(rule))
        waiting = journal.count_waiting()
        for notifier in notifiers:
            self._waiting.labels(notifier).set(waiting.get(notifier, 0))
        self._given_up.inc(given_up)
        self._looked.set(time.time())
