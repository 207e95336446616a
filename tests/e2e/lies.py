"""Lies about a story: facts told of another time, or with a field spoilt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Fact = dict[str, Any]

_HOUR_MS = 3_600_000
# Fields that the tables cannot contradict.
_UNSEEN = {"story", "seed", "n", "kind", "fact", "from_ms", "to_ms"}
_UNSEEN |= {"commits", "how", "by", "killed_ms"}


def antedate(fact: Fact) -> Fact:
    """The fact, told of an hour before."""
    times = {name: fact[name] - _HOUR_MS for name in ("from_ms", "to_ms")}
    return {**fact, **times}


def is_absence(fact: Fact) -> bool:
    """That something is not there: true an hour before, and of some other name, as well."""
    return fact["fact"] == "topic_is_gone" or fact.get("config") == {}


def falsify(fact: Fact) -> Iterator[Fact]:
    """The fact with one field after the other spoilt."""
    for name in fact.keys() - _UNSEEN:
        if not is_absence(fact) or name == "config":
            yield {**fact, name: _spoil(fact[name])}


def _spoil(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(list(value.items())[:-1]) if value else {"x": "y"}
    if isinstance(value, list):
        return [*value, 99 if isinstance(value[0], int) else "x"]
    return value + (1 if isinstance(value, int) else "x")
