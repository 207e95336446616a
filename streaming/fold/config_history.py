"""config_history: full snapshots in, one row per value of one key out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from streaming.fold.context import Context
from streaming.fold.life import (
    Moment,
    State,
    find_moment,
    is_echo,
    is_new_life,
    is_state,
    is_touch,
    read_life,
    write_life,
)
from streaming.fold.payload import read_value
from streaming.fold.row import Row, end_row, open_row
from zklake.events.credentials import MASK
from zklake.events.envelope import Event
from zklake.events.payloads.config import Config

KINDS = (
    "topic_config",
    "client_config",
    "user_config",
    "user_client_config",
    "broker_config",
    "ip_config",
)
# Kafka's Sanitizer URL-encodes the names of these.
_ENCODED = ("users", "clients", "ips")


class Entity(NamedTuple):
    """Whose config it is."""

    cluster: str
    entity_type: str
    entity_name: str
    client_id: str | None


class Setting(NamedTuple):
    """What is known of the value of one key."""

    value: str | None
    is_redacted: bool
    data_hash: str | None


# The open rows of one entity, by config_key.
Rows = dict[str | None, Row]


def find_entity(event: Event) -> Entity | None:
    """Whose config the event's znode is."""
    parts = (event.path or "").split("/")
    if event.kind not in KINDS or len(parts) not in (4, 6):
        return None
    kind = parts[2]
    names = [_decode(part) if kind in _ENCODED else part for part in (parts[3], parts[-1])]
    return Entity(event.cluster, kind, names[0], names[1] if len(parts) == 6 else None)


def _decode(name: str) -> str:
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name


def read_settings(event: Event) -> tuple[Mapping[str, Setting] | None, str | None]:
    """(all overrides, None), or (None, why they are not known)."""
    config, error = read_value(event, Config())
    if not isinstance(config, Config):
        return None, error
    return {key: _read_setting(event, value) for key, value in config.config.items()}, None


def _read_setting(event: Event, value: str) -> Setting:
    if event.fidelity == "redacted" and value == MASK:
        return Setting(None, True, event.data_hash)
    return Setting(value, False, None)


class ConfigHistory:
    """The rows of all entities."""

    name = "config_history"

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.open: dict[Entity, Rows] = {}
        self.ended: list[Row] = []
        for row in rows:
            entity = Entity(*(row[name] for name in Entity._fields))
            self.open.setdefault(entity, {})[row["config_key"]] = dict(row)

    def concerns(self, event: Event, context: Context) -> bool:
        """Whether an event may change a row."""
        return event.kind in KINDS or context.closure is not None

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        if context.closure is not None:
            self.resync(context.closure.begin_seq, context.find_resync(context.closure))
            return
        entity = find_entity(event)
        if entity is None:
            return
        if event.op == "delete":
            self.end(entity, context.find_end(event), "deleted")
        elif is_touch(event):
            self.see(entity, event.seq)
        elif is_state(event):
            self.put(entity, event)

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the rows that are open, those that have ended since)."""
        ended, self.ended = self.ended, []
        return [row for held in self.open.values() for row in held.values()], ended

    def see(self, entity: Entity, seq: int) -> None:
        for row in self.open.get(entity, {}).values():
            row["seen_seq"] = seq

    def end(self, entity: Entity, moment: Moment, word: str) -> None:
        for key in list(self.open.get(entity, {})):
            self._end_key(entity, key, moment, word)

    def resync(self, begin_seq: int, moment: Moment) -> None:
        for entity, rows in list(self.open.items()):
            seen_seq = max((row["seen_seq"] for row in rows.values()), default=begin_seq)
            if seen_seq < begin_seq:
                self.end(entity, moment, "resync")

    def put(self, entity: Entity, event: Event) -> None:
        """A state of the entity's znode."""
        rows = self.open.setdefault(entity, {})
        unread = rows.get(None)
        settings, error = read_settings(event)
        if settings is None and unread is not None and is_echo(event, _state_of(unread)):
            unread["seen_seq"] = event.seq
            return
        moment = find_moment(event)
        czxid = next((row["czxid"] for row in rows.values() if row["czxid"] is not None), None)
        if rows and is_new_life(event, czxid):
            self.end(entity, moment, "recreated")
            czxid = None
        life = read_life(event, czxid)
        for row in rows.values():
            row["czxid"] = life.czxid
        if settings is None:
            self.end(entity, moment, "changed" if error is None else "unreadable")
            unknown = Setting(None, event.fidelity == "redacted", event.data_hash)
            row = _begin(entity, None, unknown, moment, life)
            rows[None] = row | {"decode_error": error}
            return
        for key in [key for key in rows if key not in settings]:
            self._end_key(entity, key, moment, "changed" if key is None else "removed")
        for key, setting in settings.items():
            self._put(entity, key, setting, moment, life)

    def _put(self, entity: Entity, key: str, setting: Setting, moment: Moment, life: State) -> None:
        row = self.open[entity].get(key)
        if row is not None and setting == tuple(row[name] for name in Setting._fields):
            row["seen_seq"] = moment.seq
            return
        if row is not None:
            self._end_key(entity, key, moment, "changed")
        self.open[entity][key] = _begin(entity, key, setting, moment, life)

    def _end_key(self, entity: Entity, key: str | None, moment: Moment, word: str) -> None:
        row = self.open[entity].pop(key)
        end_row(row, moment, word)
        self.ended.append(row)


def _begin(entity: Entity, key: str | None, setting: Setting, moment: Moment, life: State) -> Row:
    columns = entity._asdict() | setting._asdict() | write_life(life)
    cluster = columns.pop("cluster")
    return open_row(
        cluster,
        moment.seq,
        moment.zxid,
        moment.at_ms,
        config_key=key,
        is_known=key is not None,
        decode_error=None,
        **columns,
    )


def _state_of(row: Row) -> State:
    return State(row["czxid"], row["znode_version"], row["fidelity"])
