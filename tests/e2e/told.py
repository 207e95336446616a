"""All that the stories of one run told, in order: what an answer from the lake is held to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from confluent_kafka.admin import ClusterMetadata

from tests.e2e.lake_past import LATE_MS

Fact = dict[str, Any]
Row = dict[str, Any]
Rows = list[Row]

BROKER_LEFT = ("broker_stopped", "broker_killed")


@dataclass(frozen=True)
class Told:
    """The facts by story, and what the brokers themselves say of the cluster afterwards."""

    facts: dict[str, list[Fact]]
    metadata: ClusterMetadata

    def find(self, *names: str, story: str | None = None, **wanted: Any) -> list[Fact]:
        """The facts of these names with these values, in the order of time."""
        stories = self.facts if story is None else (story,)
        return [
            fact
            for one in stories
            for fact in self.facts[one]
            if fact["fact"] in names and all(fact.get(k) == v for k, v in wanted.items())
        ]

    def find_after(self, former: Fact, *names: str, **wanted: Any) -> Fact:
        """The first of these facts that followed another one."""
        later = (f for f in self.find(*names, **wanted) if f["from_ms"] >= former["to_ms"])
        return next(later)


def middle(fact: Fact) -> int:
    """A moment in a fact's time."""
    return int(fact["from_ms"] + fact["to_ms"]) // 2


def ms(at: datetime) -> int:
    """A row's time, as the truth has it."""
    return round(at.timestamp() * 1000)


def is_within(at: datetime | None, fact: Fact) -> bool:
    """Whether it happened in the fact's time."""
    return at is not None and fact["from_ms"] <= ms(at) <= fact["to_ms"]


def is_seen_within(at: datetime | None, fact: Fact) -> bool:
    """The same of an end, which bears no time of its own: it is seen a moment late."""
    return is_within(at, {**fact, "to_ms": fact["to_ms"] + LATE_MS})


def only(rows: Rows) -> Row:
    """The one row there is."""
    assert len(rows) == 1, rows
    return rows[0]
