"""The event as JSON Schema, generated from the struct: for readers that are not ours."""

from __future__ import annotations

from typing import Any

import msgspec

from zklake.events.envelope import VERSION, Event


def event_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of one record of the log. Unknown fields are allowed."""
    (_, components) = msgspec.json.schema_components((Event,), ref_template="#/$defs/{name}")
    event = components.pop("Event")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"zklake event, version {VERSION}",
        **{name: value for name, value in event.items() if name != "title"},
        "$defs": components,
    }
