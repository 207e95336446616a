"""The shape of an answer as a page declares it, and the msgspec type that is made of it.

A shape is a type that msgspec knows, `{"name": shape}` for an object with exactly these keys,
`[shape]` for a list, or one of the classes here. Answers are encoded by the type, and the OpenAPI
document is made of the same one. Knows no page, no table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, reduce
from keyword import iskeyword
from operator import or_
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
    """Any of these. They cannot be distinguished, so they are encoded as they are."""

    shapes: tuple[Shape, ...]


class Tagged(NamedTuple):
    """An object of one of several forms; a field of it says of which, by these words."""

    field: str
    forms: Mapping[str, Mapping[str, Shape]]


class ByName(NamedTuple):
    """An object with any keys, and such values."""

    shape: Shape


class Compiled(NamedTuple):
    """The type of a shape, and those that only the description of an `Either` refers to."""

    type: Any
    others: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Named:
    """A shape that stands once in the description, by its name."""

    name: str
    shape: Mapping[str, Shape]

    @cached_property
    def compiled(self) -> Compiled:
        """Its type: one, however often it is asked for."""
        return compile_shape(self.shape, self.name)


def choose(*words: str | None) -> Any:
    """One of these words."""
    return cast(Any, Literal)[words]


def say(type_: Any, text: str) -> Any:
    """The type, and what it means."""
    return Annotated[type_, Meta(description=text)]


def compile_shape(shape: Shape, name: str) -> Compiled:
    """The type of a shape; objects within it that have no name are named by their place."""
    others: list[Any] = []
    return Compiled(_compile(shape, name, others), tuple(others))


def write_schema(type_: Any, named: dict[str, Schema]) -> Schema:
    """JSON Schema; what has a name goes to `named`, and is referred to."""
    (schema,), found = msgspec.json.schema_components((type_,), ref_template=_PLACE)
    for name, one in found.items():
        assert named.setdefault(name, one) == one, f"two shapes are called {name}"
    return schema


def _compile(shape: Shape, name: str, others: list[Any]) -> Any:
    made: Any = shape
    match shape:
        case Named():
            others.extend(shape.compiled.others)
            made = shape.compiled.type
        case Maybe(inner):
            made = _compile(inner, name, others) | None
        case Either(shapes):
            made = _compile_either(shapes, name, others)
        case Tagged(field, forms):
            structs = [
                _define(f"{name}.{word}", fields, others, tag_field=field, tag=word)
                for word, fields in forms.items()
            ]
            made = reduce(or_, structs)
        case ByName(inner):
            made = dict[str, _compile(inner, name, others)]  # type: ignore[misc]
        case dict():
            made = _define(name, shape, others)
        case [item]:
            made = list[_compile(item, name, others)]  # type: ignore[misc]
    return made


def _compile_either(shapes: tuple[Shape, ...], name: str, others: list[Any]) -> Any:
    found = [_compile(one, f"{name}.{place}", others) for place, one in enumerate(shapes, 1)]
    others.extend(found)
    forms = [write_schema(type_, {}) for type_ in found]
    return Annotated[Any, Meta(extra_json_schema={"anyOf": forms})]


def _define(
    name: str,
    fields: Mapping[str, Shape],
    others: list[Any],
    tag_field: str | None = None,
    tag: str | None = None,
) -> type[msgspec.Struct]:
    """An answer has no keys that nobody described."""
    made = [
        (_spell(key), _compile(shape, f"{name}.{key}", others), msgspec.field(name=key))
        for key, shape in fields.items()
    ]
    # No answer holds itself: with the collector at every row, 20,000 take ten times as long.
    return msgspec.defstruct(
        name, made, forbid_unknown_fields=True, gc=False, tag_field=tag_field, tag=tag
    )


def _spell(key: str) -> str:
    """A name that Python takes."""
    spelt = key.replace("-", "_")
    return f"{spelt}_" if iskeyword(spelt) else spelt
