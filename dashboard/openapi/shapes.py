"""The shape of an answer in Python's words, and the same as JSON Schema. Knows no page, no table.

A shape is a type that msgspec knows, `{"name": shape}` for an object with exactly these keys,
`[shape]` for a list, or one of the classes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta

Shape = Any
Schema = dict[str, Any]

# With its zone, as RFC 3339 wants it.
Instant = Annotated[datetime, Meta(tz=True)]
_PLACE = "#/components/schemas/{name}"


class Maybe(NamedTuple):
    """The shape, or null. For types, `| None` says it."""

    shape: Shape


class Either(NamedTuple):
    """Any of these."""

    shapes: tuple[Shape, ...]


class ByName(NamedTuple):
    """An object with any keys, and such values."""

    shape: Shape


class Named(NamedTuple):
    """A shape that stands once in the description, by its name."""

    name: str
    shape: Shape


def choose(*words: str | None) -> Any:
    """One of these words."""
    return cast(Any, Literal)[words]


def say(type_: Any, text: str) -> Any:
    """The type, and what it means."""
    return Annotated[type_, Meta(description=text)]


def write_schema(shape: Shape, named: dict[str, Schema]) -> Schema:
    """JSON Schema; what has a name goes to `named`, and is referred to."""
    schema: Schema
    match shape:
        case Named(name, inner):
            if name not in named:
                named[name] = {"title": name, **write_schema(inner, named)}
            schema = {"$ref": _PLACE.format(name=name)}
        case Maybe(inner):
            schema = {"anyOf": [write_schema(inner, named), {"type": "null"}]}
        case Either(shapes):
            schema = {"anyOf": [write_schema(one, named) for one in shapes]}
        case ByName(inner):
            schema = {"type": "object", "additionalProperties": write_schema(inner, named)}
        case dict():
            schema = _write_object(shape, named)
        case [item]:
            schema = {"type": "array", "items": write_schema(item, named)}
        case _:
            schema = _write_type(shape, named)
    return schema


def _write_object(fields: Mapping[str, Shape], named: dict[str, Schema]) -> Schema:
    properties = {name: write_schema(shape, named) for name, shape in fields.items()}
    return _close({"type": "object", "properties": properties, "required": list(properties)})


def _write_type(type_: Any, named: dict[str, Schema]) -> Schema:
    (schema,), more = msgspec.json.schema_components((type_,), ref_template=_PLACE)
    named.update({name: _close(one) for name, one in more.items()})
    return schema


def _close(schema: Schema) -> Schema:
    """An answer has no keys that nobody described."""
    return {**schema, "additionalProperties": False}
