"""Every example is one question, short, and a query that the lake's tables can answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from delta_tables.asking.querying import check_query
from delta_tables.catalog import TABLES
from delta_tables.reading import find_views, open_tables, query_rows
from tests.delta_tables.empty_lake import make_empty_lake
from tests.delta_tables.small_lake import write_lake
from tests.examples import EXAMPLES, GROUP, TIME, TOPIC, Example

by_name = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DeltaTable]:
    lake = str(tmp_path_factory.mktemp("lake"))
    make_empty_lake(lake, "c", TABLES)
    return open_tables(lake, "c")


def test_there_are_enough_of_them() -> None:
    assert len(EXAMPLES) >= 20


@by_name
def test_an_example_is_a_question_and_a_short_query(example: Example) -> None:
    lines = example.text.splitlines()
    assert lines[0].startswith("-- ")
    assert example.question.endswith("?")
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    # Who must change something is told what.
    literals = [f"'{TOPIC}'", f"'{GROUP}'", TIME, f"/{TOPIC}'"]
    is_told = any(line.startswith("-- Change") for line in lines)
    assert is_told == any(literal in example.text for literal in literals)


@by_name
def test_an_example_names_only_what_there_is(
    example: Example, tables: dict[str, DeltaTable]
) -> None:
    names = {*tables, *(view.name for view in find_views(tables))}
    assert query_rows(tables, check_query(example.text, names).sql) == []


def test_every_table_is_asked(tables: dict[str, DeltaTable]) -> None:
    text = "\n".join(example.text for example in EXAMPLES)
    assert [name for name in tables if name not in text] == []


def find(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name == name)


def test_what_no_story_leaves_in_trouble_is_found_too(tmp_path: Path) -> None:
    """The stories end well, so to these three their lake has nothing to say."""
    since = {"valid_from_at": "2026-11-16T03:00:00Z"}
    states = [
        {"topic": "orders", "partition": 0, "leader": 1, "isr": [1]},
        {"topic": "orders", "partition": 1, "leader": 2, "isr": [2]},
        {"topic": "orders", "partition": 2, "leader": 1, "isr": [1, 3]},
        {"topic": "going", "partition": 0, "leader": -1, "isr": [3]},
    ]
    rows: dict[str, list[dict[str, Any]]] = {
        "broker_membership": [{"broker_id": broker_id} for broker_id in (1, 3)],
        "topics": [
            {"topic": "orders", "replicas": {0: [1, 2], 1: [2, 1], 2: [1, 3]}},
            {"topic": "going", "replicas": {0: [2, 3]}},
            {"topic": "odd", "decode_error": "malformed"},
        ],
        "partition_state": states,
        "admin_operations": [{"operation": "topic_deletion", "topic": "going"}],
        "quarantine": [{"kafka_offset": 7, "reason": "not JSON"}],
    }
    dated = {
        name: [{**row, **({} if name == "quarantine" else since)} for row in some]
        for name, some in rows.items()
    }
    write_lake(str(tmp_path), "c", dated)
    tables = open_tables(str(tmp_path), "c")

    def ask(name: str, *columns: str) -> list[tuple[Any, ...]]:
        found = query_rows(tables, find(name).text)
        return [tuple(row[column] for column in columns) for row in found]

    assert ask("offline_partitions", "topic", "partition", "leader") == [("orders", 1, 2)]
    assert ask("under_replicated_now", "topic", "partition", "missing") == [
        ("orders", 0, [2]),
        ("orders", 1, [1]),
    ]
    assert sorted(ask("unreadable_values", "found_in", "what", "reason")) == [
        ("quarantine", "offset 7", "not JSON"),
        ("topics", "odd", "malformed"),
    ]


def test_an_example_asked_of_a_story() -> None:
    example = Example("x", f"-- Who?\nSELECT '{TOPIC}', '{GROUP}', '/a/{TOPIC}', '{TIME}'")
    asked = example.ask("tale-5-", 1_000)
    assert asked.endswith(
        "'tale-5-orders', 'tale-5-readers', '/a/tale-5-orders', '1970-01-01T00:00:01.000Z'"
    )


def test_the_cookbook_shows_every_example() -> None:
    cookbook = (Path(__file__).parents[1] / "docs" / "cookbook.md").read_text()
    for example in EXAMPLES:
        assert f"## {example.question}\n" in cookbook, "run `python -m tests.e2e.cookbook`"
