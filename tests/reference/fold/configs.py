"""The config_history table: one row per value of one config key of one entity.

A znode holds the full set of overrides: a key that is no longer there was removed.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.reference.fold.states import is_touch
from tests.reference.fold.step_states import (
    Cause,
    Life,
    StepRow,
    Told,
    is_new_life,
    learn,
    read_told,
)
from zklake.events.envelope import Event

Row = dict[str, Any]

KINDS = (
    "topic_config",
    "client_config",
    "user_config",
    "user_client_config",
    "broker_config",
    "ip_config",
)
_PATH = re.compile(r"/config/([^/]+)/([^/]+)(?:/clients/([^/]+))?")
# Their names are URL-encoded.
_ENCODED = ("users", "clients", "ips")
_MASK = "[redacted]"


class Entity(NamedTuple):
    """Whose config it is."""

    entity_type: str
    entity_name: str
    client_id: str | None


class Overrides:
    """What is known of one entity: its open rows by config key, or one of no key."""

    def __init__(self) -> None:
        self.life: Life | None = None
        self.open: dict[str | None, StepRow] = {}


class Configs:
    """All rows of one cluster."""

    def __init__(self) -> None:
        self.states: list[StepRow] = []
        self.entities: dict[Entity, Overrides] = {}

    def take(self, event: Event) -> None:
        """A create, set, read or unreadable."""
        entity = entity_of(event.path)
        if entity is None:
            return
        held = self.entities.setdefault(entity, Overrides())
        if is_touch(event):
            _see_all(held, event)
            return
        told, cause = read_told(event), Cause(event)
        if told.payload is None and None in held.open and held.open[None].is_echoed(event):
            held.open[None].see(event)
            return
        if is_new_life(held.life, event):
            _end_all(held, "recreated", cause)
        held.life = held.life or Life()
        learn(held.life, event, list(held.open.values()))
        if told.payload is None:
            _end_all(held, told.word, cause, keep_life=True)
            self._begin(entity, held, None, _unread(told, event), cause)
        else:
            self._compare(entity, held, _states_of(told.payload.config, event), cause)

    def delete(self, event: Event, at_min: int | None) -> None:
        """The entity has no config any more."""
        entity = entity_of(event.path)
        if entity in self.entities:
            _end_all(self.entities[entity], "deleted", Cause(event, at_min))

    def close_unseen(self, event: Event, begin_seq: int, at_min: int | None) -> None:
        """A closure: what no event showed since the frame began is gone."""
        for held in self.entities.values():
            for key, row in list(held.open.items()):
                if row.row["seen_seq"] < begin_seq:
                    _end(held, key, "resync", Cause(event, at_min))
            _forget(held)

    def _compare(
        self, entity: Entity, held: Overrides, states: dict[str, Row], cause: Cause
    ) -> None:
        for key in list(held.open):
            if key is None:
                _end(held, key, "changed", cause)
            elif key not in states:
                _end(held, key, "removed", cause)
            elif any(held.open[key].row[name] != states[key][name] for name in states[key]):
                _end(held, key, "changed", cause)
        for key, state in states.items():
            if key in held.open:
                held.open[key].see(cause.event)
            else:
                self._begin(entity, held, key, state, cause)
        _forget(held)

    def _begin(
        self, entity: Entity, held: Overrides, key: str | None, state: Row, cause: Cause
    ) -> None:
        columns = {**entity._asdict(), "config_key": key, **state}
        held.open[key] = StepRow(cause, columns, held.life)
        self.states.append(held.open[key])


def entity_of(path: str | None) -> Entity | None:
    """The entity that a path names; None: it names none."""
    found = _PATH.fullmatch(path or "")
    if found is None:
        return None
    entity_type, name, client = found.groups()
    if entity_type in _ENCODED:
        name, client = _decode(name), client and _decode(client)
    return Entity(entity_type, name, client)


def _decode(name: str) -> str:
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name


def _states_of(config: dict[str, str], event: Event) -> dict[str, Row]:
    states = {}
    for key, value in config.items():
        is_redacted = event.fidelity == "redacted" and value == _MASK
        states[key] = {
            "value": None if is_redacted else value,
            "is_redacted": is_redacted,
            "data_hash": event.data_hash if is_redacted else None,
        }
    return states


def _unread(told: Told, event: Event) -> Row:
    return {
        "value": None,
        "is_redacted": event.fidelity == "redacted",
        "data_hash": event.data_hash,
        "is_known": False,
        "decode_error": told.decode_error,
    }


def _see_all(held: Overrides, event: Event) -> None:
    for row in held.open.values():
        row.see(event)


def _end(held: Overrides, key: str | None, word: str, cause: Cause) -> None:
    held.open.pop(key).end(word, cause)


def _end_all(held: Overrides, word: str, cause: Cause, *, keep_life: bool = False) -> None:
    for key in list(held.open):
        _end(held, key, word, cause)
    if not keep_life:
        _forget(held)


def _forget(held: Overrides) -> None:
    """A znode without rows does not stand."""
    if not held.open:
        held.life = None
