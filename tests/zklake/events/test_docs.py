from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from zklake.events import envelope, kind, samples
from zklake.events.docs import render_docs, write_docs
from zklake.events.envelope import Event, Frame, Gap, Stat
from zklake.events.kinds import KINDS
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

SAMPLES: list[type[msgspec.Struct]] = [
    value
    for value in vars(samples).values()
    if isinstance(value, type) and issubclass(value, msgspec.Struct)
]
DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["events.md", "events.schema.json"])
def test_the_committed_docs_are_those_of_the_code(name: str) -> None:
    stale = "run: python -m zklake.events.docs"
    assert (DOCS / name).read_text(encoding="utf-8") == render_docs()[name], stale


def test_both_files_are_written(tmp_path: Path) -> None:
    write_docs(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"events.md", "events.schema.json"}


def test_every_word_and_field_says_what_it_means() -> None:
    for name in ("Op", "Fidelity", "Origin", "GapReason"):
        assert all(literal_meanings(envelope, name).values()), name
    assert all(literal_meanings(kind, "Sensitivity").values())
    assert all(literal_meanings(reading, "Reason").values())
    assert all(literal_meanings(samples, "GroupSource").values())
    structs: list[type[msgspec.Struct]] = [Event, Gap, Frame, *SAMPLES]
    for struct in structs:
        meanings = field_meanings(struct)
        assert set(meanings) == set(struct.__struct_fields__)
        assert all(meanings.values()), struct


def wire(**fields: Any) -> Any:
    event = Event("prod", "log-1", 7 << 20, observed_at_ms=1794793246657, **fields)
    return msgspec.json.decode(envelope.encode(event))


VALIDATOR = jsonschema.Draft202012Validator(event_schema())


def find_errors(event: Any) -> list[str]:
    """Where an event is not as the schema says."""
    return [f"{event}: {error.message}" for error in VALIDATOR.iter_errors(event)]


def test_the_schema_is_one() -> None:
    schema_of_schemas = jsonschema.Draft202012Validator(VALIDATOR.META_SCHEMA)
    assert list(schema_of_schemas.iter_errors(event_schema())) == []


def make_events() -> Iterator[Any]:
    """Events of every kind and op, as they stand on the wire."""
    stat = Stat(czxid=1, mzxid=2, version=0, ephemeral_owner=0x10000000000001)
    for row in KINDS:
        for sample in row.samples:
            data = None if sample.data is None else sample.data.decode()
            fields = {"path": row.pattern, "kind": row.name, "data": data, "stat": stat}
            yield wire(op="create", origin="watch", zxid=2, **fields)
    for op in literal_meanings(envelope, "Op"):
        yield wire(op=op)
    for reason in literal_meanings(envelope, "GapReason"):
        yield wire(op="gap", gap=Gap("g", reason=reason, lives=3))  # type: ignore[arg-type]
    yield wire(op="in_sync", frame=Frame("f", base="none", znodes=9))
    yield wire(op="heartbeat") | {"field_of_a_later_release": 1}


def test_events_of_every_kind_and_op_are_valid() -> None:
    assert [error for event in make_events() for error in find_errors(event)] == []


def test_samples_are_valid_and_come_back_as_they_went() -> None:
    groups = GroupReading("admin_api", 5, partitions_behind=1, reason="denied")
    failed = (BrokerFailure(2, "timed out"),)
    ended = Round(7, 12, (1,), failed, is_base=True, reason="why", groups=groups)
    ends = LogEnds((LogEnd("t", 0, 1, 0, 9), LogEnd("t", 1, error="LEADER_NOT_AVAILABLE")), ended)
    member = Member("m", "i", "c", "h", 1, 2, ("t",), (TopicPartitions("t", (0,)),))
    state = GroupState("g", "Stable", 3, "consumer", "range", "m", 4, (member,), 1)
    commits = GroupCommits((Commit("g", "t", 0, 5, 1, "note", 6, 7), Commit("g", "t", 1)))
    for op, sample in (("log_ends", ends), ("group_commit", commits), ("group_state", state)):
        assert find_errors(wire(op=op, **{op: sample})) == []
        event = Event("prod", "log-1", 7, op, 1, **{op: sample})  # type: ignore[arg-type]
        assert getattr(envelope.decode(envelope.encode(event)), op) == sample


@pytest.mark.parametrize(
    "change", [{"op": "frob"}, {"seq": "7"}, {"fidelity": "so-so"}, {"stat": {"czxid": "1"}}]
)
def test_what_is_no_event_is_not_valid(change: dict[str, Any]) -> None:
    assert find_errors(wire(op="set") | change)
