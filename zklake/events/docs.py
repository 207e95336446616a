"""docs/events.md and docs/events.schema.json, generated: `python -m zklake.events.docs`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import msgspec

from zklake.events import envelope, kind, samples
from zklake.events.config_redaction import FORMS
from zklake.events.envelope import VERSION, Event, Frame, Gap
from zklake.events.kind import Kind
from zklake.events.kinds import KINDS, UNKNOWN
from zklake.events.meanings import field_meanings, literal_meanings
from zklake.events.payloads import reading
from zklake.events.samples import (
    BrokerFailure,
    Commit,
    GroupCommits,
    GroupReading,
    GroupState,
    LogEnd,
    LogEnds,
    Member,
    Round,
    TopicPartitions,
)
from zklake.events.schema import event_schema

_INTRO = f"""# Events

Generated from zklake/events by `python -m zklake.events.docs`; do not edit.

One record of the log is one JSON object (version {VERSION}); its schema is
[events.schema.json](events.schema.json). A field at its default is absent. Fields that a reader
does not know are passed over."""

_CONFIG_INTRO = """What Kafka, 0.8.1 to 3.9, defines as a number, a switch or one of a few words.
A value of another form is masked all the same. Names of all keys are published. A broker's keys
count in a listener's form, too (`listener.name.[listener].[key]`). `watcher.publish_config_keys`
adds keys by name."""

_STRUCTS = ((Event, "Envelope"), (Gap, "`gap`"), (Frame, "`frame`"))
_SAMPLES = (
    (LogEnds, "`log_ends`"),
    (LogEnd, "LogEnd"),
    (Round, "Round"),
    (BrokerFailure, "BrokerFailure"),
    (GroupReading, "GroupReading"),
    (GroupCommits, "`group_commit`"),
    (Commit, "Commit"),
    (GroupState, "`group_state`"),
    (Member, "Member"),
    (TopicPartitions, "TopicPartitions"),
)


def write_docs(folder: Path) -> None:
    """Write both files into a folder."""
    for name, text in render_docs().items():
        (folder / name).write_text(text, encoding="utf-8")


def render_docs() -> dict[str, str]:
    """Both files by name."""
    return {
        "events.md": "\n\n".join(_sections()) + "\n",
        "events.schema.json": json.dumps(event_schema(), indent=2) + "\n",
    }


def _sections() -> Iterable[str]:
    yield _INTRO
    for struct, title in (*_STRUCTS, *_SAMPLES):
        yield f"## {title}"
        yield _table(("field", "type", "meaning"), _fields(struct))
    yield "## GroupSource"
    yield _words(samples, "GroupSource")
    for name in ("Op", "Fidelity", "Origin", "GapReason"):
        yield f"## {name}"
        yield _words(envelope, name)
    yield "## Kinds of znodes"
    header = ("kind", "path", "Kafka", "mode", "published", "says")
    yield _table(header, (_kind_row(row) for row in (*KINDS, UNKNOWN)))
    yield "`published` is what may leave the process:"
    yield _words(kind, "Sensitivity")
    yield f"## Config keys whose values are published\n\n{_CONFIG_INTRO}"
    yield _table(("kind", "keys"), (_config_row(name, keys) for name, keys in FORMS.items()))
    yield "## Samples\n\nWhat each range of releases writes."
    yield from (_samples(row) for row in KINDS if any(sample.data for sample in row.samples))
    yield "## Why data cannot be read"
    yield _words(reading, "Reason")


def _words(module: ModuleType, name: str) -> str:
    words = literal_meanings(module, name).items()
    return _table(("word", "meaning"), ((f"`{word}`", meaning) for word, meaning in words))


def _fields(struct: type[msgspec.Struct]) -> Iterable[tuple[str, ...]]:
    meanings = field_meanings(struct)
    for name, annotation in struct.__annotations__.items():
        yield f"`{name}`", str(annotation).replace(" | None", ""), meanings[name]


def _kind_row(row: Kind) -> tuple[str, ...]:
    paths = "<br>".join(f"`{pattern}`" for pattern in (row.pattern, *row.also))
    return f"`{row.name}`", paths, row.releases, row.mode, row.sensitivity, row.says


def _config_row(name: str, keys: Iterable[str]) -> tuple[str, ...]:
    return f"`{name}`", ", ".join(f"`{key}`" for key in sorted(keys))


def _samples(row: Kind) -> str:
    lines = [
        f"{sample.releases + ':':<36}{sample.data.decode() if sample.data else 'null'}"
        for sample in row.samples
    ]
    return f"### {row.name}\n\n```text\n" + "\n".join(lines) + "\n```"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)


if __name__ == "__main__":
    write_docs(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
