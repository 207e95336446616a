"""TOML file, environment and flags, each read into the same flat form: dotted key, value, origin.

Names are judged here, values are not. A problem never shows the value of an unknown name: it may
be a secret with a slip in its name.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from zklake.settings.fields import SettingField, groups, setting_fields
from zklake.settings.names import ENV_PREFIX, OTHER_VARIABLES, SHORT_FORMS, env_name
from zklake.spelling import did_you_mean


class Given(NamedTuple):
    """A value somebody gave. `option` names one entry of a `client` setting."""

    field: SettingField
    value: object
    origin: str
    option: str = ""

    @property
    def key(self) -> str:
        """The dotted key, with the librdkafka option if it is one."""
        return f"{self.field.key}.{self.option}" if self.option else self.field.key


class Problem(NamedTuple):
    """One line of a SettingsError."""

    origin: str
    text: str


Found = Iterator[Given | Problem]


def read_toml(path: Path) -> Found:
    """What the file sets."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        yield Problem(str(path), f"cannot be read: {error.strerror}")
    except ValueError as error:
        yield Problem(str(path), f"is not valid TOML: {error}")
    else:
        for name, value in tables.items():
            yield from _read_table(name, value, str(path))


def _read_table(name: str, value: object, origin: str) -> Found:
    if name not in groups():
        yield from _resolve(name, value, origin)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _resolve(f"{name}.{key}", inner, origin)
    else:
        near = f"; did you mean {SHORT_FORMS[name]}?" if name in SHORT_FORMS else ""
        yield Problem(origin, f"{name}: is a group of settings, a table{near}")


def read_environment(environ: Mapping[str, str]) -> Found:
    """What ZKLAKE_… variables set; an empty one counts as not given."""
    short = {env_name(name): key for name, key in SHORT_FORMS.items()}
    long = {env_name(key): key for key in setting_fields()}
    known = {**long, **short}
    for name, text in sorted(environ.items()):
        if not name.startswith(ENV_PREFIX) or name in OTHER_VARIABLES or not text:
            continue
        if name in short and name not in long and environ.get(env_name(short[name])):
            yield Problem(name, f"{env_name(short[name])} is set too; unset one of them")
        elif name in known:
            yield from _parse_text(setting_fields()[known[name]], text, name)
        else:
            yield from _read_client_variable(name, text, known)


def _read_client_variable(name: str, text: str, known: Mapping[str, str]) -> Found:
    """ZKLAKE_LOG__CLIENT__SASL_USERNAME sets sasl.username in log.client."""
    for field in setting_fields().values():
        start = env_name(field.key) + "__"
        if field.kind == "client" and name.startswith(start) and name != start:
            option = name.removeprefix(start).lower().replace("_", ".")
            yield Given(field, text, name, option)
            return
    yield Problem(name, f"no such setting{did_you_mean(name, (*known, *OTHER_VARIABLES))}")


def _parse_text(field: SettingField, text: str, origin: str) -> Found:
    if field.kind == "list" and not text.lstrip().startswith("["):
        yield Given(field, [part.strip() for part in text.split(",")], origin)
    elif field.kind in ("list", "tables", "client"):
        try:
            yield from _resolve(field.key, json.loads(text), origin)
        except ValueError:
            yield Problem(origin, f"{field.key}: is not valid JSON")
    else:
        yield Given(field, text, origin)


def read_flags(flags: Mapping[str, object]) -> Found:
    """What the command line sets, by dotted key; None counts as not given."""
    names = {key: f"--{name}" for name, key in SHORT_FORMS.items()}
    for key, value in flags.items():
        if value is not None:
            yield from _resolve(key, value, names.get(key, "command line"))


def _resolve(key: str, value: object, origin: str) -> Found:
    """Find the setting of a dotted key; the options of a `client` become one Given each."""
    fields = setting_fields()
    field = fields.get(key) or fields.get(".".join(key.split(".")[:2]))
    if field is None or (field.key != key and field.kind != "client"):
        yield Problem(origin, f"{key}: no such setting{did_you_mean(key, fields)}")
    elif field.kind == "client":
        yield from _read_options(field, key[len(field.key) + 1 :], value, origin)
    else:
        yield Given(field, value, origin)


def _read_options(field: SettingField, option: str, value: object, origin: str) -> Found:
    # In TOML an unquoted `security.protocol = "SSL"` is a table in a table: the same is meant.
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _read_options(field, f"{option}.{name}" if option else name, inner, origin)
    elif option:
        yield Given(field, value, origin, option)
    else:
        yield Problem(origin, f"{field.key}: expected a table of librdkafka options")
