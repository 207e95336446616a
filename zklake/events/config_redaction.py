"""What of a config may leave the process: values on Kafka's own lists, in the form of their type.

Pure. Everything else is masked: a plugin's secret has a name that nobody can foresee.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zklake.credential_signs import is_secret_value, resembles_credential
from zklake.events.config_keys import (
    BROKER_NUMBERS,
    BROKER_SWITCHES,
    BROKER_WORDS,
    IP_QUOTAS,
    QUOTAS,
    TOPIC_NUMBERS,
    TOPIC_SWITCHES,
    TOPIC_WORDS,
)
from zklake.events.credentials import (
    MASK,
    holds_secret,
    is_secret_key,
    parse_json,
    write_json,
)
from zklake.events.kind import Kind
from zklake.events.payloads.config import decode_config
from zklake.events.payloads.reading import Unreadable
from zklake.name_patterns import Names

_Form = Callable[[str], Any]

# A key that is listed and a value that is none of its type: Kafka would not have taken it.
_NUMBER: _Form = re.compile(
    r"[+-]?(?:[0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?"
).fullmatch
_SWITCH: _Form = re.compile("true|false", re.IGNORECASE).fullmatch
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
# A listener's own form of a key: its name, for SASL the mechanism, and the key.
_LISTENER = re.compile(r"listener\.name\.[^.]+\.(.+)")


def _list_forms(
    numbers: Iterable[str], switches: Iterable[str] = (), words: Mapping[str, str] | None = None
) -> dict[str, _Form]:
    closed = {key: re.compile(pattern).fullmatch for key, pattern in (words or {}).items()}
    return dict.fromkeys(numbers, _NUMBER) | dict.fromkeys(switches, _SWITCH) | closed


_QUOTAS = _list_forms(QUOTAS)
# By kind of znode: the keys on the list, and the form that their values have.
FORMS: dict[str, dict[str, _Form]] = {
    "topic_config": _list_forms(TOPIC_NUMBERS, TOPIC_SWITCHES, TOPIC_WORDS),
    "broker_config": _list_forms(BROKER_NUMBERS, BROKER_SWITCHES, BROKER_WORDS),
    "client_config": _QUOTAS,
    "user_config": _QUOTAS,
    "user_client_config": _QUOTAS,
    "ip_config": _list_forms(IP_QUOTAS),
}


class ConfigRedaction:
    """The lists, and the further keys that one installation shows."""

    def __init__(self, publish_keys: Iterable[str] = ()) -> None:
        self._opened = Names(include=publish_keys)

    def keep(self, kind: Kind, data: bytes) -> bytes | None:
        """The config with all other values masked; None when it is no config."""
        config = decode_config(data)
        if isinstance(config, Unreadable):
            return None
        try:
            tree = parse_json(data.decode())
        except (ValueError, RecursionError):
            return None
        entries = {
            _mask_name(key): value if self._is_shown(kind, key, value) else MASK
            for key, value in config.config.items()
        }
        kept = {"version": config.version, "config": entries}
        return data if kept == tree else write_json(kept)

    def _is_shown(self, kind: Kind, key: str, value: str) -> bool:
        forms = FORMS.get(kind.name, {})
        names = (key, *_list_behind(key)) if kind.name == "broker_config" else (key,)
        for name in names:
            if name in forms:
                return bool(forms[name](value.strip()))
        # A user's other entries are SCRAM credentials: nothing opens them.
        if kind.sensitivity == "user" or not _NAME.fullmatch(key):
            return False
        if not any(map(self._opened.holds, names)):
            return False
        return not (is_secret_key(key) or resembles_credential(key) or holds_secret(value))


def _list_behind(key: str) -> tuple[str, ...]:
    """The keys that a listener's form may stand for: without the listener, and the mechanism."""
    listener = _LISTENER.fullmatch(key)
    if not listener:
        return ()
    return listener[1], listener[1].partition(".")[2]


def _mask_name(key: str) -> str:
    return key if _NAME.fullmatch(key) and not is_secret_value(key) else MASK
