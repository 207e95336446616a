"""What was found and what was sent, on disk: written before sending, and after it.

One transaction per look: incidents, messages and how far the look went become true together.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from alerts.delivery import Delivery
from alerts.incident import Incident
from alerts.journal_file import connect, explaining
from alerts.journal_rows import list_open, read_ms, write_ms

# Those that are over stay for so long after their last message.
_KEPT = timedelta(days=90)
_GIVEN_UP = "UPDATE deliveries SET state = 'given_up', done_ms = :now WHERE state = 'waiting' AND "


class Notified(NamedTuple):
    """What one notifier has been sent about one incident."""

    number: int
    created_at: datetime
    is_waiting: bool


class Journal:
    """The journal of one cluster; threads may share it."""

    def __init__(self, path: str, cluster: str) -> None:
        self.path, self.cluster = path, cluster
        self._lock = threading.RLock()
        self._connection = connect(path, cluster)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One transaction."""
        with self._lock, explaining(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _ask(self, sql: str, *values: Any) -> list[Any]:
        with self._lock, explaining(self.path):
            return self._connection.execute(sql, values).fetchall()

    def read_horizons(self) -> dict[str, datetime]:
        """How far each rule's last look went."""
        return {rule: read_ms(ms) for rule, ms in self._ask("SELECT rule, horizon_ms FROM looks")}

    def list_open(self) -> list[Incident]:
        """The incidents that were open at the last look."""
        with self._lock, explaining(self.path):
            return list_open(self._connection, self.cluster)

    def list_past_ids(self, rule: str) -> set[str]:
        """The incidents of a rule that are over."""
        sql = "SELECT id FROM incidents WHERE rule = ? AND closed_ms IS NOT NULL"
        return {id_ for (id_,) in self._ask(sql, rule)}

    def find_notified(self, incident_id: str, notifier: str) -> Notified | None:
        """What a notifier has been sent; nothing counts that was given up from the start."""
        sql = (
            "SELECT max(number), max(created_ms), sum(state = 'waiting') FROM deliveries "
            "WHERE incident_id = ? AND notifier = ? AND event <> 'close' AND EXISTS ("
            "SELECT 1 FROM deliveries AS first WHERE first.incident_id = deliveries.incident_id "
            "AND first.notifier = deliveries.notifier AND first.event = 'open' "
            "AND first.state <> 'given_up')"
        )
        ((number, created_ms, waiting),) = self._ask(sql, incident_id, notifier)
        return None if number is None else Notified(number, read_ms(created_ms), bool(waiting))

    def count_waiting(self) -> dict[str, int]:
        """Messages that are not sent yet, by notifier."""
        sql = "SELECT notifier, count(*) FROM deliveries WHERE state = 'waiting' GROUP BY notifier"
        return dict(self._ask(sql))

    def add_incident(self, incident: Incident) -> None:
        """Write one down."""
        self._ask(
            "INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            incident.id,
            incident.rule,
            incident.severity,
            incident.subject.kind,
            json.dumps(incident.subject.names),
            write_ms(incident.started_at),
            write_ms(incident.opened_at),
        )

    def close_incident(self, incident: Incident) -> None:
        """It is over; that it still is need not be said again."""
        assert incident.closed_at is not None
        closed = write_ms(incident.closed_at)
        self._ask("UPDATE incidents SET closed_ms = ? WHERE id = ?", closed, incident.id)
        self._ask(
            "UPDATE deliveries SET state = 'dropped', done_ms = ? "
            "WHERE incident_id = ? AND event = 'repeat' AND state = 'waiting'",
            closed,
            incident.id,
        )

    def add_delivery(self, one: Delivery, now: datetime, *, gives_up: bool = False) -> None:
        """Something is to be sent, or is too old for that."""
        now_ms = write_ms(now)
        self._ask(
            "INSERT INTO deliveries (id, incident_id, notifier, event, number, message, "
            "created_ms, next_ms, state, done_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            one.id,
            one.incident_id,
            one.notifier,
            one.event,
            one.number,
            json.dumps(one.message),
            now_ms,
            now_ms,
            "given_up" if gives_up else "waiting",
            now_ms if gives_up else None,
        )

    def set_horizon(self, rule: str, horizon: datetime) -> None:
        """This look went so far."""
        # Rounded down: the same horizon must not seem to lie before itself.
        floor = int(horizon.timestamp() * 1000)
        self._ask("INSERT OR REPLACE INTO looks VALUES (?, ?)", rule, floor)

    def take(self, notifier: str, now: datetime) -> Delivery | None:
        """What that notifier has to send next, if it is due; from now on it counts as tried.

        Of one incident the messages go out in order.
        """
        sql = (
            "SELECT id, incident_id, event, number, attempts, message FROM deliveries AS one "
            "WHERE state = 'waiting' AND notifier = ? AND next_ms <= ? AND NOT EXISTS ("
            "SELECT 1 FROM deliveries AS earlier WHERE earlier.incident_id = one.incident_id "
            "AND earlier.notifier = one.notifier AND earlier.state = 'waiting' "
            "AND earlier.rowid < one.rowid) ORDER BY next_ms, rowid LIMIT 1"
        )
        with self.changing():
            rows = self._ask(sql, notifier, write_ms(now))
            if not rows:
                return None
            id_, incident_id, event, number, attempts, message = rows[0]
            self._ask("UPDATE deliveries SET attempts = attempts + 1 WHERE id = ?", id_)
        return Delivery(
            id_, incident_id, notifier, event, number, json.loads(message), attempts + 1
        )

    def mark_sent(self, delivery_id: str, now: datetime) -> None:
        """It arrived."""
        sql = "UPDATE deliveries SET state = 'sent', done_ms = ?, error = NULL WHERE id = ?"
        self._ask(sql, write_ms(now), delivery_id)

    def mark_failed(self, delivery_id: str, error: str, again_at: datetime) -> None:
        """It did not, as far as we know."""
        sql = "UPDATE deliveries SET next_ms = ?, error = ? WHERE id = ?"
        self._ask(sql, write_ms(again_at), error, delivery_id)

    def tidy(self, now: datetime, give_up_s: float) -> int:
        """Give up what has waited too long, forget what is long over; returns how many it gave up.

        Whoever never got the beginning does not get the end.
        """
        times = {"now": write_ms(now), "old": write_ms(now - timedelta(seconds=give_up_s))}
        orphans = (
            "event <> 'open' AND EXISTS (SELECT 1 FROM deliveries AS first "
            "WHERE first.incident_id = deliveries.incident_id AND first.event = 'open' "
            "AND first.notifier = deliveries.notifier AND first.state = 'given_up')"
        )
        with self.changing():
            run = self._connection.execute
            count = run(f"{_GIVEN_UP} created_ms < :old", times).rowcount
            count += run(f"{_GIVEN_UP} {orphans}", times).rowcount
            run(
                "DELETE FROM incidents WHERE closed_ms < ? AND NOT EXISTS (SELECT 1 FROM "
                "deliveries WHERE incident_id = incidents.id AND state = 'waiting')",
                (write_ms(now - _KEPT),),
            )
        return count
