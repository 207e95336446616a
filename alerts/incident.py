"""What an incident is: a rule, a subject, and when. Knows neither tables nor notifiers.

Its id is the same whoever finds it, from whichever part of the history.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from zklake.times import write_time

# The names that a subject of some kind has.
_FIELDS = {
    "cluster": (),
    "pipeline": (),
    "controller": (),
    "broker": ("broker_id",),
    "topic": ("topic",),
    "partition": ("topic", "partition"),
    "group": ("coordinator", "group_id"),
}
_SHOWN_CHARACTERS = 200


class IncidentSubject(NamedTuple):
    """What it is about."""

    kind: str
    names: tuple[str, ...] = ()

    def describe(self) -> dict[str, str]:
        """As plain data."""
        return {"kind": self.kind, **dict(zip(_FIELDS[self.kind], self.names, strict=True))}

    @property
    def text(self) -> str:
        """In words. Names are as they are: whoever prints them must escape them."""
        if self.kind == "group":
            return f"group {cut(self.names[1])} ({self.names[0]})"
        if self.kind == "partition":
            return f"partition {cut(self.names[0])}-{self.names[1]}"
        return f"{self.kind} {cut(self.names[0])}" if self.names else self.kind


def cut(text: str) -> str:
    """A name that nobody would read to its end."""
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


@dataclass(frozen=True)
class Spell:
    """One time in which a rule's condition held, without a pause."""

    subject: IncidentSubject
    started_at: datetime
    # None: it lasts.
    ended_at: datetime | None
    # Of the row that began it: its seq, or its time in ms where it has none.
    mark: int
    # Of several spells the evidence of the highest rank is shown.
    rank: int = 0
    evidence: dict[str, Any] = field(default_factory=dict)
    # What was affected: partitions, topics. They are added up.
    items: tuple[str, ...] = ()
    # Not known then, nor what was before it: it begins no incident, and ends none.
    is_doubt: bool = False


@dataclass(frozen=True)
class Incident:
    """Spells that belong together, and that lasted long enough."""

    id: str
    cluster: str
    rule: str
    severity: str
    subject: IncidentSubject
    # When the condition began; when it had lasted long enough.
    started_at: datetime
    opened_at: datetime
    # When the condition ended; when the pause was long enough. None: not yet.
    ended_at: datetime | None
    closed_at: datetime | None
    spells: int
    evidence: dict[str, Any]

    @property
    def is_open(self) -> bool:
        """Whether it lasts."""
        return self.closed_at is None

    def describe(self) -> dict[str, Any]:
        """As plain data: times are ISO 8601."""
        ended = self.ended_at
        lasted = (ended - self.started_at).total_seconds() if ended else None
        return {
            "id": self.id,
            "cluster": self.cluster,
            "rule": self.rule,
            "severity": self.severity,
            "subject": self.subject.describe(),
            "subject_text": self.subject.text,
            "started_at": write_time(self.started_at),
            "opened_at": write_time(self.opened_at),
            "ended_at": write_time(ended) if ended else None,
            "closed_at": write_time(self.closed_at) if self.closed_at else None,
            "duration_s": lasted,
            "spells": self.spells,
            "evidence": msgspec.to_builtins(self.evidence, str_keys=True),
        }


def make_id(cluster: str, rule: str, subject: IncidentSubject, mark: int) -> str:
    """The id of the incident that began there."""
    return hash_id([cluster, rule, subject.kind, *subject.names, mark])


def name_return(id_: str, count: int) -> str:
    """The id of one that is reported for the `count`-th time: it was reported as closed before."""
    return f"{id_}-{count}"


def split_return(id_: str) -> tuple[str, int]:
    """The id that it had at first, and for which time it is reported."""
    first, _, count = id_.partition("-")
    return first, int(count or 1)


def hash_id(parts: list[str | int]) -> str:
    """A short name for these, and for no others."""
    # Not msgspec: a lone surrogate is no UTF-8, and yet a name.
    text = repr(parts).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:20]
