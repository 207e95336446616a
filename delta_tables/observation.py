"""A znode as one event shows it, and the few ways in which a column is read off it.

Plain functions of one observation, without I/O: tables/*.py say with them what a row holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from zklake.events.envelope import Event, Stat
from zklake.events.payloads.reading import read_number

# The times that Delta's timestamps and Python's both can hold: up to the end of the year 9999.
LAST_MS = 253_402_300_799_999


class Observation(NamedTuple):
    """An event of a znode. `payload` is None where the value is not known or cannot be decoded."""

    event: Event
    # The path, split at its slashes: the first part is empty.
    parts: list[str]
    payload: Any


Read = Callable[[Observation], Any]

# What a column of the key reads where the znode's name makes no row, such as a broker id past 32
# bits; znode_events still has the event.
NO_ROW: Any = object()

_NO_STAT = Stat()


def of_payload(name: str) -> Read:
    """A field of the payload; null where there is none."""
    return lambda seen: getattr(seen.payload, name, None)


def of_event(name: str) -> Read:
    """A field of the event."""
    return lambda seen: getattr(seen.event, name)


def of_stat(name: str) -> Read:
    """A field of ZooKeeper's stat; null where it is not known."""
    return lambda seen: getattr(seen.event.stat or _NO_STAT, name)


def of_path(place: int) -> Read:
    """A part of the path; no znode has an empty name."""
    return lambda seen: seen.parts[place] or NO_ROW


def number_of_path(place: int) -> Read:
    """A part of the path as a number."""
    return lambda seen: read_key_number(seen.parts[place])


def read_key_number(text: str) -> Any:
    """A number of a key: a name that is none makes no row."""
    number = read_number(text)
    return NO_ROW if number is None else number


def constant(value: Any) -> Read:
    """The same for every znode of the table."""
    return lambda seen: value


def read_millis(at_ms: int | None) -> int | None:
    """A time in epoch milliseconds, or null where no timestamp can hold it."""
    return at_ms if at_ms is not None and 0 <= at_ms <= LAST_MS else None


def read_session(seen: Observation) -> int | None:
    """The session that holds the znode; ZooKeeper's 0 is none."""
    return (seen.event.stat or _NO_STAT).ephemeral_owner or None


def read_timestamp(seen: Observation) -> int | None:
    """The writer's own clock, from inside the value."""
    return read_millis(getattr(seen.payload, "timestamp_ms", None))
