from __future__ import annotations

import subprocess
import sys

import pytest

from delta_tables.catalog import INTERVAL_TABLES, TABLES
from delta_tables.intervals import INTERVAL_COLUMNS
from delta_tables.table import Table
from delta_tables.tables.znode_events import EVENT_COLUMNS
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


@pytest.mark.parametrize("table", INTERVAL_TABLES, ids=lambda table: table.name)
def test_an_interval_table_is_fit_for_the_engine(table: Table) -> None:
    assert table.columns[-len(INTERVAL_COLUMNS) :] == INTERVAL_COLUMNS
    assert table.partition_by == ("is_open", "closed_on")
    assert "cluster" in table.key
    assert {column.name for column in table.made} >= set(table.key)
    kinds = [name for name in KIND_BY_NAME if f"'{name}'" in table.source]
    assert kinds, f"{table.name} folds no kind of znode that the watcher names"


def test_znode_events_reads_every_field_of_the_envelope() -> None:
    columns = {column.name: column.type for column in EVENT_COLUMNS}
    assert set(columns) == set(Event.__struct_fields__)
    for name, struct in (("stat", Stat), ("gap", Gap), ("frame", Frame)):
        fields = columns[name].removeprefix("STRUCT<").removesuffix(">").split(", ")
        assert [field.split(":")[0] for field in fields] == list(struct.__struct_fields__)


def test_a_table_as_ddl() -> None:
    sql = TABLES[0].create_sql("/lake/c/quarantine")
    assert sql.startswith(
        "CREATE TABLE IF NOT EXISTS delta.`/lake/c/quarantine` (\n  `kafka_topic`"
    )
    assert "`reason` STRING COMMENT 'why it could not be folded'" in sql
    assert "'delta.minReaderVersion' = '1'" in sql
    assert "the record\\'s bytes" in sql


def test_the_tables_are_known_without_pyspark() -> None:
    code = "import sys, delta_tables.catalog, delta_tables.reading; print('pyspark' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
