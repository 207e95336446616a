"""One message to one notifier about one incident, and which ones an incident's news make. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, get_args

from alerts.incident import Incident, hash_id
from zklake.name_patterns import Names
from zklake.phrases import format_count
from zklake.settings.alert_notifiers import Notifier
from zklake.settings.alert_rules import Severity
from zklake.times import write_duration

Event = Literal["open", "repeat", "close"]
_SEVERITIES: tuple[str, ...] = get_args(Severity)
_WORDS = {"open": "OPEN", "repeat": "STILL OPEN", "close": "CLOSED"}


class Delivery(NamedTuple):
    """Its id is the same however often it is sent."""

    id: str
    incident_id: str
    notifier: str
    event: str
    number: int
    message: dict[str, Any]
    attempts: int = 0


def make_delivery(incident: Incident, notifier: Notifier, event: Event, number: int) -> Delivery:
    """The message; `number` counts the repetitions."""
    id_ = hash_id([incident.id, notifier.title, event, number])
    said = incident.describe()
    message = {
        "delivery_id": id_,
        "event": event,
        "number": number,
        "summary": summarise(incident, event),
        "incident": said,
    }
    return Delivery(id_, incident.id, notifier.title, event, number, message)


def summarise(incident: Incident, event: Event) -> str:
    """One sentence."""
    words = f"{_WORDS[event]} {incident.severity}: {incident.rule} in {incident.cluster}"
    parts = [f"{words}: {incident.subject.text}"]
    if status := incident.evidence.get("status"):
        parts.append(f"status {status}")
    if affected := incident.evidence.get("affected"):
        parts.append(format_count(affected, "partition"))
    if incident.ended_at is not None:
        lasted = (incident.ended_at - incident.started_at).total_seconds()
        parts.append(f"lasted {write_duration(lasted)}")
    return ", ".join(parts)


def list_listeners(incident: Incident, notifiers: Iterable[Notifier]) -> list[Notifier]:
    """Who wants to know."""
    rank = _SEVERITIES.index(incident.severity)
    return [
        one
        for one in notifiers
        if rank >= _SEVERITIES.index(one.severity) and Names(one.rules).holds(incident.rule)
    ]


def is_due_again(notifier: Notifier, notified_at: datetime, now: datetime) -> bool:
    """Whether an incident that lasts is to be sent once more."""
    return not notifier.send_once and now - notified_at >= timedelta(
        seconds=notifier.send_interval_s
    )
