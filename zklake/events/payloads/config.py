"""/config: overrides of topics, clients, users, brokers and ips, and the nodes of changes.

User and broker configs hold secrets: what may leave the process is decided in redaction.py.
"""

from __future__ import annotations

import re

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    UNREADABLE_ERRORS,
    Document,
    Payload,
    Unreadable,
    explain,
    read_text,
)


class Config(Payload, frozen=True, kw_only=True):
    """The FULL set of overrides: an absent key is an override removed."""

    config: dict[str, str] = msgspec.field(default_factory=dict)


class ConfigChange(Payload, frozen=True, kw_only=True):
    """Whose config changed, as `type/name[/clients/name]`; names stay URL-encoded."""

    entity_path: str


class _ChangeOnWire(msgspec.Struct):
    version: int
    entity_path: str = ""
    entity_type: str = ""
    entity_name: str = ""


_CONFIG = Document(Config, {1: ("config",)})
_CHANGE = Document(_ChangeOnWire, {1: ("entity_type", "entity_name"), 2: ("entity_path",)})
_bare_topic = msgspec.json.Decoder(str)
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,255}")


def decode_config(data: bytes | None) -> Config | Unreadable:
    """Overrides; null where a znode stands only because it has children."""
    return _CONFIG.read(data) if data else Config()


def decode_config_change(data: bytes | None) -> ConfigChange | Unreadable:
    """A change of any release; 0.8 wrote the topic's name as a JSON string."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    if text.lstrip().startswith('"'):
        return _decode_bare_topic(text)
    wire = _CHANGE.read(text)
    if isinstance(wire, Unreadable):
        return wire
    path = wire.entity_path if wire.version == 2 else f"{wire.entity_type}/{wire.entity_name}"
    return ConfigChange(version=wire.version, entity_path=path)


def _decode_bare_topic(text: str) -> ConfigChange | Unreadable:
    try:
        topic = _bare_topic.decode(text)
    except UNREADABLE_ERRORS as error:
        return explain(error)
    if not _TOPIC_NAME.fullmatch(topic):
        return Unreadable("not_recognised", "no topic name")
    return ConfigChange(entity_path=f"topics/{topic}")


_OVERRIDES = b'{"version":1,"config":{"retention.ms":"3600000","cleanup.policy":"compact"}}'
_QUOTAS = b'{"version":1,"config":{"producer_byte_rate":"1048576","consumer_byte_rate":"2097152"}}'
_SCRAM = (
    b'{"version":1,"config":{"SCRAM-SHA-256":"salt=c2FtcGxl,stored_key=c2FtcGxl,'
    b'server_key=c2FtcGxl,iterations=4096","consumer_byte_rate":"2097152"}}'
)
_BROKER = (
    b'{"version":1,"config":{"log.cleaner.threads":"2",'
    b'"listener.name.int.ssl.keystore.password":"c2FtcGxl"}}'
)
_NONE = Sample("all, no override", b'{"version":1,"config":{}}')

KINDS = (
    directory("config_dir", "/config", "0.8.1-3.9"),
    directory("topic_configs_dir", "/config/topics", "0.8.1-3.9"),
    Kind(
        "topic_config",
        "/config/topics/[topic]",
        "0.8.1-3.9",
        "overrides of one topic",
        decode_config,
        (_NONE, Sample("0.8.1-3.9", _OVERRIDES)),
        sensitivity="config",
    ),
    directory("client_configs_dir", "/config/clients", "0.9-3.9"),
    Kind(
        "client_config",
        "/config/clients/[client_id]",
        "0.9-3.9",
        "quotas of one client id, or of `<default>`",
        decode_config,
        (_NONE, Sample("0.9-3.9", _QUOTAS)),
        sensitivity="config",
    ),
    directory("user_configs_dir", "/config/users", "0.10.1-3.9"),
    Kind(
        "user_config",
        "/config/users/[user]",
        "0.10.1-3.9",
        "quotas and SCRAM credentials of one user; null when only its clients have any",
        decode_config,
        (_NONE, Sample("0.10.1-3.9", None), Sample("0.10.2-3.9", _SCRAM)),
        sensitivity="user",
    ),
    directory("user_clients_dir", "/config/users/[user]/clients", "0.10.1-3.9"),
    Kind(
        "user_client_config",
        "/config/users/[user]/clients/[client_id]",
        "0.10.1-3.9",
        "quotas of one user's client id",
        decode_config,
        (_NONE, Sample("0.10.1-3.9", _QUOTAS)),
        sensitivity="user",
    ),
    directory("broker_configs_dir", "/config/brokers", "0.10.1-3.9"),
    Kind(
        "broker_config",
        "/config/brokers/[broker]",
        "0.10.1-3.9",
        "dynamic config of one broker, or of `<default>`; passwords are encrypted",
        decode_config,
        (_NONE, Sample("1.1-3.9", _BROKER)),
        sensitivity="config",
    ),
    directory("ip_configs_dir", "/config/ips", "2.8-3.9"),
    Kind(
        "ip_config",
        "/config/ips/[ip]",
        "2.8-3.9",
        "connection quota of one address, or of `<default>`",
        decode_config,
        (
            _NONE,
            Sample("2.8-3.9", b'{"version":1,"config":{"connection_creation_rate":"100"}}'),
        ),
        sensitivity="config",
    ),
    directory("config_changes_dir", "/config/changes", "0.8.1-3.9"),
    Kind(
        "config_change",
        "/config/changes/config_change_[sequence]",
        "0.8.1-3.9",
        "a nudge: whose config was written just before; topic creation leaves none",
        decode_config_change,
        (
            Sample("0.8.1-0.8.2", b'"orders"'),
            Sample("0.9-0.10.0", b'{"version":1,"entity_type":"topics","entity_name":"orders"}'),
            Sample("0.10.1-3.9", b'{"version":2,"entity_path":"users/al%2Fice/clients/c1"}'),
        ),
        mode="sequential",
        sensitivity="change",
    ),
)
