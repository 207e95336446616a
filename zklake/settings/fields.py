"""The settings as a flat list of dotted keys, read off the models. Knows no values."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from zklake.settings.models import Settings

# Tables: a list of tables, [[group.name]] in TOML; there may be secrets in them.
Kind = Literal["plain", "secret", "list", "tables", "client"]


class SettingField(NamedTuple):
    """One setting: `group.name`, or just `name` at the top."""

    key: str
    kind: Kind
    info: FieldInfo


def groups() -> dict[str, type[BaseModel]]:
    """The groups by name, in the order of the models."""
    return {
        name: info.annotation
        for name, info in Settings.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
    }


@cache
def setting_fields() -> dict[str, SettingField]:
    """Every setting by its dotted key, in the order of the models."""
    grouped = groups()
    fields = [
        _field(key, info) for key, info in Settings.model_fields.items() if key not in grouped
    ]
    for group, model in grouped.items():
        fields += [_field(f"{group}.{name}", info) for name, info in model.model_fields.items()]
    return {field.key: field for field in fields}


def _field(key: str, info: FieldInfo) -> SettingField:
    return SettingField(key, _kind(info.annotation), info)


def _kind(annotation: object) -> Kind:
    if get_origin(annotation) is tuple:
        return "tables" if _mentions(annotation, BaseModel) else "list"
    if get_origin(annotation) is dict:
        return "client"
    return "secret" if _mentions(annotation, SecretStr) else "plain"


def _mentions(annotation: object, wanted: type) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, wanted):
        return True
    return any(_mentions(part, wanted) for part in get_args(annotation))
