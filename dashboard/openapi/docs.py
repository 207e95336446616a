"""docs/api.md, made from the OpenAPI document: `python -m dashboard.openapi.docs`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dashboard.openapi.document import build_document
from dashboard.openapi.shapes import Schema
from delta_tables.catalog import TABLE_BY_NAME
from zklake.times import MOMENT_FORMS

_HEAD = f"""# The JSON API

Made from the pages and their answers by `make docs`; do not edit.

Every page of the dashboard answers as JSON, too: `/groups?sort=-lag` shows what
`/api/groups?sort=-lag` answers. `/api/openapi.json` describes all of it (OpenAPI 3.1) for those who
make a client of it. Nothing here writes.

- A password or a token of the settings is asked for as on the pages: `Authorization: Basic …` or
  `Bearer …`; without one the answer is 401, with another site's browser 403, under a name that the
  settings do not have 421.
- Below `/api/`, every answer that is no 200 is `{{"error": "what to do about it"}}`: 400 where a
  parameter is unknown, said twice, missing or not as described, 404 where there is no such address,
  503 where the lake cannot be read.
- Times are RFC 3339 in UTC. What is not known is null.
- Every answer of a page has a `pulse`: how fresh its data is.
- A time range is `last=15m` (1h, 7d and the like; an hour when nothing is said), or `from` and
  `to`: {MOMENT_FORMS}.
"""
_ANSWER = "Answer"
_SPAN = ("last", "from", "to")
# Statuses that not every address has.
_OWN = ("200", "404", "503")


def describe() -> str:
    """The whole document."""
    document = build_document()
    shapes = document["components"]["schemas"]
    paths = document["paths"].items()
    parts = [_HEAD, *(_describe_address(path, one["get"], shapes) for path, one in paths)]
    parts.append("# Shapes\n")
    for name, schema in sorted(shapes.items()):
        if name not in TABLE_BY_NAME and not name.endswith(_ANSWER) and not _has_place(name):
            parts.append(f"## {name}\n\n{_write_fields(schema, shapes)}")
    return "\n".join(parts)


def _describe_address(path: str, get: dict[str, Any], shapes: dict[str, Schema]) -> str:
    lines = [f"## GET {path}\n", get["description"], ""]
    params = [param for param in get["parameters"] if param["name"] not in _SPAN]
    if params:
        lines += ["| parameter | type | says |", "|---|---|---|", *map(_describe_param, params), ""]
    if len(params) < len(get["parameters"]):
        lines += ["It takes a time range.", ""]
    (media_type, content), *_ = get["responses"]["200"]["content"].items()
    if media_type.startswith("text/"):
        return "\n".join([*lines, f"The answer is text. {_list_statuses(get)}", ""])
    schema = content["schema"]
    name = _read_name(schema)
    return "\n".join([*lines, _write_fields(shapes[name] if name else schema, shapes)])


def _list_statuses(get: dict[str, Any]) -> str:
    answers = get["responses"].items()
    return " ".join(f"{code}: {one['description']}" for code, one in answers if code in _OWN)


def _describe_param(param: dict[str, Any]) -> str:
    must = " It must be there." if param["required"] and param["in"] == "query" else ""
    return f"| `{param['name']}` | {_name_type(param['schema'])} | {param['description']}{must} |"


def _write_fields(schema: Schema, shapes: dict[str, Schema]) -> str:
    fields = list(_list_fields(schema, shapes, ""))
    if not fields:
        return f"The answer is {_name_type(schema)}.\n"
    return "\n".join(["| field | type | says |", "|---|---|---|", *fields, ""])


def _list_fields(schema: Schema, shapes: dict[str, Schema], prefix: str) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        says = field.get("description", "").replace("|", "\\|")
        yield f"| `{prefix}{name}` | {_name_type(field)} | {says} |"
        is_list, names = _find_objects(field)
        inner = _merge([shapes[name] for name in names])
        yield from _list_fields(inner, shapes, f"{prefix}{name}{'[]' if is_list else ''}.")


def _find_objects(schema: Schema) -> tuple[bool, list[str]]:
    """The objects described in place that a field holds, and whether it is a list of them."""
    if schema.get("type") == "array":
        return True, _find_objects(schema.get("items", {}))[1]
    found = [_find_objects(one) for one in schema.get("anyOf", ())]
    if found:
        is_list = any(one[0] for one in found)
        return is_list, [name for _, names in found for name in names]
    name = _read_name(schema)
    return False, [name] if _has_place(name) else []


def _read_name(schema: Schema) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _has_place(name: str) -> bool:
    """Objects that pages give no name are called by their place: described there, and not apart."""
    return "." in name


def _merge(objects: list[Schema]) -> Schema:
    """One object that can be any of these."""
    fields: dict[str, list[Schema]] = {}
    for one in objects:
        for name, field in one["properties"].items():
            known = fields.setdefault(name, [])
            known.extend([] if field in known else [field])
    return {
        "properties": {
            name: forms[0] if len(forms) == 1 else {**forms[0], "anyOf": forms}
            for name, forms in fields.items()
        }
    }


def _name_type(schema: Schema) -> str:
    if name := _read_name(schema):
        return "object" if _has_place(name) else _link(name)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_name_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return _name_words([word for word in schema["enum"] if word != ""])
    if schema.get("type") == "array":
        return f"list of {_name_type(schema.get('items', {}))}"
    if "properties" not in schema and schema.get("additionalProperties"):
        return f"{_name_type(schema['additionalProperties'])} by name"
    return _WORDS.get(schema.get("format") or schema.get("type", ""), "anything")


def _name_words(words: list[str]) -> str:
    if f"-{words[-1]}" in words:
        words = [word for word in words if not word.startswith("-")]
        return f"{_name_words(words)}; each also with a `-` before it"
    return ", ".join(f"`{word}`" for word in words)


_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
    "date-time": "time",
    "date": "date",
}


def _link(name: str) -> str:
    place = f"tables.md#{name}" if name in TABLE_BY_NAME else f"#{name.lower()}"
    return f"[{name}]({place})"


if __name__ == "__main__":
    print(describe(), end="")  # noqa: T201
