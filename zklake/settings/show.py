"""Settings as rows a person may see: key, value, origin; secrets masked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, SecretStr

from zklake.settings.fields import SettingField, setting_fields
from zklake.settings.load import Loaded
from zklake.settings.models import Settings
from zklake.settings.names import MASK
from zklake.settings.values import ClientOptions
from zklake.settings.words import mask_words

Value = str | int | float | bool | tuple[str | dict[str, Any], ...] | None


class ShownSetting(NamedTuple):
    """One row; `value` is plain JSON, None when not set."""

    key: str
    value: Value
    origin: str
    description: str


def show_settings(loaded: Loaded) -> list[ShownSetting]:
    """Every setting, each option of a `client` in a row of its own."""
    return [
        ShownSetting(key, value, loaded.origins.get(key, "default"), field.info.description or "")
        for field in setting_fields().values()
        for key, value in _read_values(loaded.settings, field)
    ]


def _read_values(settings: Settings, field: SettingField) -> Iterator[tuple[str, Value]]:
    value: object = settings
    for name in field.key.split("."):
        value = getattr(value, name)
    if isinstance(value, ClientOptions) and value:
        yield from ((f"{field.key}.{name}", shown) for name, shown in value.masked().items())
    elif isinstance(value, SecretStr):
        yield field.key, MASK
    elif isinstance(value, ClientOptions):
        yield field.key, None
    elif field.kind == "tables" and isinstance(value, tuple):
        yield field.key, tuple(_show_table(table) for table in value)
    elif value is None or isinstance(value, bool | int | float | tuple):
        yield field.key, value
    else:
        yield field.key, str(value)


def _show_table(table: BaseModel) -> dict[str, Any]:
    """Its secrets are masked by pydantic; a command's arguments may hold some, too."""
    shown = table.model_dump(mode="json", exclude_none=True)
    return shown | {"argv": mask_words(shown["argv"])} if "argv" in shown else shown


def write_value(value: Value) -> str:
    """A value as one printable line, spelt as in TOML except that strings go unquoted."""
    if value is None:
        return "(not set)"
    if isinstance(value, str):
        return value if value.isprintable() else repr(value)
    return json.dumps(value)
