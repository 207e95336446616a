from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable

from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.creation import add_missing_columns, create_table
from delta_tables.docs import describe
from delta_tables.intervals import INTERVAL_COLUMNS, VALIDITY_COLUMNS
from delta_tables.table import ENDED_BY, AsOf, Column, Table
from delta_tables.tables.znode_events import EVENT_COLUMNS
from delta_tables.views import VIEWS
from zklake.events.envelope import Event, Frame, Gap, Stat
from zklake.events.kinds import KIND_BY_NAME

by_name = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


@by_name
def test_a_table_says_all_there_is_to_say(table: Table) -> None:
    assert len(set(table.names)) == len(table.names)
    assert {*table.key, *table.partition_by} <= set(table.names)
    assert table.grain.endswith(".")
    assert all(column.comment and column.type for column in table.columns)


def test_names_are_unique_and_the_watermark_is_written_last() -> None:
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names)
    assert names[-1] == "znode_events"
    intervals = [table.properties["delta.checkpointInterval"] for table in TABLES]
    assert len(set(intervals)) == len(TABLES), "all tables would checkpoint in the same batch"


def find_lacks(table: Table) -> list[str]:
    """What a table still lacks before the engine can fold it and people can read it."""
    columns = {column.name: column for column in table.columns}
    made = {column.name for column in table.made}
    checks = {
        "a grain that is a sentence": table.grain.endswith("."),
        "a key among its columns": bool(table.key) and set(table.key) <= set(columns),
        "a comment and a type on every column": all(c.comment and c.type for c in table.columns),
        "a Delta checkpoint interval": "delta.checkpointInterval" in table.properties,
    }
    if table.is_interval:
        checks |= {
            "the validity columns": set(columns) >= {c.name for c in VALIDITY_COLUMNS},
            "partitions by is_open and closed_on": table.partition_by == ("is_open", "closed_on"),
            "the cluster in its key": "cluster" in table.key,
            "words for how a row ends": bool(table.ends) and set(table.ends) <= set(ENDED_BY),
            "inputs that commit before it": _come_before(table),
            "inputs that the fold can read as of an event, for an interval table": not table.as_of
            or (table.folded == "intervals" and _are_read_as_of(table)),
        }
    if table.folded == "intervals":
        checks |= {
            "a way to read its key": made >= set(table.key),
            "its key at its beginning": table.names[: len(table.key)] == table.key,
            "kinds that the watcher names": bool(table.kinds)
            and set(table.kinds) <= set(KIND_BY_NAME),
            "the znode columns at its end": table.columns[-len(INTERVAL_COLUMNS) :]
            == INTERVAL_COLUMNS,
        }
    return [what for what, is_there in checks.items() if not is_there]


def _come_before(table: Table) -> bool:
    names = [known.name for known in TABLES]
    return all(
        names.index(wanted.table) < names.index(table.name)
        and wanted.column in TABLE_BY_NAME[wanted.table].names
        for wanted in table.as_of
    )


def _are_read_as_of(table: Table) -> bool:
    return all(wanted.table == "controller" for wanted in table.as_of)


@by_name
def test_a_table_lacks_nothing(table: Table) -> None:
    assert find_lacks(table) == []


def test_what_a_new_table_lacks_is_named() -> None:
    new = Table("new", "no sentence", (Column("a", "INT", ""),), ("b",), folded="intervals")
    assert {"a key among its columns", "a way to read its key", "the cluster in its key"} <= set(
        find_lacks(new)
    )


def test_an_input_that_the_engine_cannot_read_is_named() -> None:
    known = TABLE_BY_NAME["partition_state"]
    what = "inputs that the fold can read as of an event, for an interval table"
    for name, column, lacks in (
        ("controller", "kraft_controller_epoch", []),
        ("broker_membership", "rack", [what]),
        ("log_ends", "log_end_offset", [what]),
    ):
        wanted = AsOf(name, column)
        table = replace(known, as_of=(wanted,))
        found = [lack for lack in find_lacks(table) if lack != "inputs that commit before it"]
        assert found == lacks, name
    step = replace(TABLE_BY_NAME["admin_operations"], as_of=(wanted,))
    assert what in find_lacks(step)


def test_the_document_is_up_to_date() -> None:
    document = Path(__file__).parents[2] / "docs" / "tables.md"
    assert document.read_text() == describe(), "run `make docs`"


def test_a_view_reads_tables_that_exist() -> None:
    for view in VIEWS:
        assert set(view.inputs) <= set(TABLE_BY_NAME)
        assert view.says.endswith("?")


def test_znode_events_reads_every_field_of_the_envelope() -> None:
    columns = {column.name: column.type for column in EVENT_COLUMNS}
    assert set(columns) == set(Event.__struct_fields__)
    for name, struct in (("stat", Stat), ("gap", Gap), ("frame", Frame)):
        fields = columns[name].removeprefix("STRUCT<").removesuffix(">").split(", ")
        assert [field.split(":")[0] for field in fields] == list(struct.__struct_fields__)


def test_a_table_is_created_as_it_is_described(tmp_path: Path) -> None:
    for table in TABLES:
        delta = create_table(table, str(tmp_path / table.name))
        assert (delta.protocol().min_reader_version, delta.protocol().min_writer_version) == (1, 2)
        described = [(c.name, c.comment, not c.required) for c in table.columns]
        fields = delta.schema().fields
        assert [(f.name, f.metadata["comment"], f.nullable) for f in fields] == described
        made = delta.metadata()
        assert (made.description, tuple(made.partition_columns)) == (
            table.grain,
            table.partition_by,
        )
        assert made.configuration.items() >= table.properties.items()


def test_the_tables_are_known_without_pyspark() -> None:
    code = "import sys, delta_tables.catalog, delta_tables.reading; print('pyspark' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_a_table_of_an_older_zklake_gets_the_columns_it_lacks(tmp_path: Path) -> None:
    table = TABLE_BY_NAME["topics"]
    older = replace(table, columns=tuple(c for c in table.columns if c.name != "topic_id"))
    create_table(older, str(tmp_path))
    add_missing_columns(table, DeltaTable(str(tmp_path)))
    fields = {field.name: field for field in DeltaTable(str(tmp_path)).schema().fields}
    assert set(fields) == set(table.names)
    assert fields["topic_id"].nullable
    assert fields["topic_id"].metadata["comment"].startswith("topic id")
    add_missing_columns(table, DeltaTable(str(tmp_path)))
    assert DeltaTable(str(tmp_path)).version() == 1, "nothing was missing any more"
