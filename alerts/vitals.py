"""How the notifier itself is doing, for /readyz and /metrics: who warns when the warner is down?"""

from __future__ import annotations

import time

from alerts.journal import Journal
from zklake.metrics import Metrics, counter, gauge


class Vitals(Metrics):
    """Numbers of one notifier; each is set after a look."""

    PREFIX = "zklake_alerts"

    open_incidents = gauge("Incidents that are open", "rule")
    waiting_messages = gauge("Messages that are not sent yet", "notifier")
    given_up_messages = counter("Messages given up")
    last_look_timestamp_seconds = gauge("When the lake was last read")

    def __init__(self) -> None:
        super().__init__()
        self.obstacle: str | None = "not checked yet"

    def note(self, journal: Journal, rules: list[str], notifiers: list[str], given_up: int) -> None:
        """After a look that could read the lake."""
        known = [one.rule for one in journal.list_open()]
        for rule in rules:
            self.open_incidents.labels(rule).set(known.count(rule))
        waiting = journal.count_waiting()
        for notifier in notifiers:
            self.waiting_messages.labels(notifier).set(waiting.get(notifier, 0))
        self.given_up_messages.inc(given_up)
        self.last_look_timestamp_seconds.set(time.time())
