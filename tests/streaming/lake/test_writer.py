from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.quarantine import QUARANTINE
from streaming.lake.delta_logs import DeltaLogs
from streaming.lake.writer import Mark, TableWriter
from tests.delta_tables.empty_lake import make_empty_lake
from zklake.errors import LakeError

CLUSTER = "c"
BORN = dt.datetime(2026, 11, 16, 3, 12, tzinfo=dt.UTC)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    make_empty_lake(str(tmp_path), CLUSTER, (PARTITION_STATE, QUARANTINE))
    return str(tmp_path)


def open_writer(lake: str) -> TableWriter:
    return TableWriter(reading.table_path(lake, CLUSTER, PARTITION_STATE.name), PARTITION_STATE)


def make_row(topic: str, seq: int, *, ended: dt.datetime | None = None) -> dict[str, Any]:
    return {
        "cluster": CLUSTER,
        "topic": topic,
        "partition": 0,
        "isr": [1, 2],
        "is_known": True,
        "valid_from_seq": seq,
        "valid_from_at": BORN,
        "valid_to_at": ended,
        "is_clamped": False,
        "is_open": ended is None,
        "closed_on": ended and ended.date(),
    }


def frame(lake: str, *rows: dict[str, Any]) -> pa.Table:
    delta = reading.open_table(lake, CLUSTER, PARTITION_STATE.name)
    assert delta is not None
    schema = pa.schema(delta.schema().to_arrow())
    return pa.Table.from_pylist(list(rows), pa.schema([f.with_nullable(True) for f in schema]))


def read(lake: str) -> list[tuple[str, bool]]:
    sql = "SELECT topic, is_open FROM partition_state ORDER BY is_open, topic"
    return [(row["topic"], row["is_open"]) for row in reading.read_rows(lake, CLUSTER, sql)]


def test_open_rows_are_replaced_and_closed_ones_stay(lake: str) -> None:
    writer = open_writer(lake)
    writer.replace_open(frame(lake, make_row("a", 1)), Mark("l", 1))
    ended = make_row("a", 1, ended=BORN)
    writer.replace_open(frame(lake, ended, make_row("b", 2)), Mark("l", 2))
    writer.replace_open(frame(lake, make_row("b", 2), make_row("d", 3)), Mark("l", 3))
    assert read(lake) == [("a", False), ("b", True), ("d", True)]
    assert reading.read_marker(lake, CLUSTER, "partition_state", "l") == 3
    delta = DeltaTable(reading.table_path(lake, CLUSTER, "partition_state"))
    assert delta.version() == 3


def replace_all(writer: TableWriter, rows: pa.Table, mark: Mark) -> None:
    made = writer.replace_all()
    made.add(rows)
    made.commit(mark)
    assert made.rows == rows.num_rows


def test_every_row_is_replaced_whatever_its_partition(lake: str) -> None:
    writer = open_writer(lake)
    ended = [make_row("a", 1, ended=BORN), make_row("b", 2, ended=BORN + dt.timedelta(days=1))]
    writer.replace_open(frame(lake, *ended, make_row("c", 3)), Mark("l", 3))
    replace_all(writer, frame(lake, make_row("e", 1, ended=BORN), make_row("d", 4)), Mark("l", 3))
    assert read(lake) == [("e", False), ("d", True)]
    assert reading.read_marker(lake, CLUSTER, "partition_state", "l") == 3
    replace_all(writer, frame(lake), Mark("l", 5))
    assert read(lake) == []


def test_no_open_row_is_left_when_all_have_ended(lake: str) -> None:
    writer = open_writer(lake)
    writer.replace_open(frame(lake, make_row("a", 1)), Mark("l", 1))
    writer.replace_open(frame(lake, make_row("a", 1, ended=BORN)), Mark("l", 2))
    writer.replace_open(frame(lake), Mark("l", 3))
    assert read(lake) == [("a", False)]


def test_readers_can_pass_over_files_by_their_stats(lake: str) -> None:
    rows = frame(lake, make_row("a" * 40, 7), make_row("b", 9))
    open_writer(lake).replace_open(rows, Mark("l", 9))
    delta = DeltaTable(reading.table_path(lake, CLUSTER, "partition_state"))
    (added,) = pa.table(delta.get_add_actions(flatten=True)).to_pylist()
    assert (added["num_records"], added["null_count.valid_to_seq"]) == (2, 2)
    assert (added["min.valid_from_seq"], added["max.valid_from_seq"]) == (7, 9)
    assert added["min.valid_from_at"] == added["max.valid_from_at"] == BORN
    # A long name would have to be rounded up.
    assert added.get("max.topic") is None


def test_the_metrics_count_the_rows_of_a_commit(lake: str) -> None:
    logs = DeltaLogs(lake, CLUSTER)

    def count() -> tuple[int, int]:
        found = {log.table: log for log in logs.look()}["partition_state"]
        return found.commits, found.rows

    assert count() == (0, 0)
    writer = open_writer(lake)
    writer.replace_open(frame(lake, make_row("a", 1), make_row("b", 2)), Mark("l", 2))
    assert count() == (1, 2)
    for seq in (3, 4):
        ended = make_row("a", seq, ended=BORN)
        writer.replace_open(frame(lake, ended, make_row("b", 2)), Mark("l", seq))
    assert count() == (2, 4)
    DeltaTable(reading.table_path(lake, CLUSTER, "partition_state")).optimize.compact()
    assert count() == (1, 0)


def test_another_writer_is_found_out(lake: str) -> None:
    writer = open_writer(lake)
    writer.replace_open(frame(lake, make_row("a", 1)), Mark("l", 1))
    open_writer(lake).replace_open(frame(lake, make_row("b", 2)), Mark("l", 2))
    with pytest.raises(LakeError, match="only one stream"):
        writer.replace_open(frame(lake, make_row("d", 3)), Mark("l", 3))
    assert read(lake) == [("b", True)]


def test_maintenance_between_two_commits_is_no_other_writer(lake: str) -> None:
    writer = open_writer(lake)
    for seq in (1, 2, 3):
        ended = make_row("a", seq, ended=BORN)
        writer.replace_open(frame(lake, ended, make_row("b", seq)), Mark("l", seq))
    DeltaTable(reading.table_path(lake, CLUSTER, "partition_state")).optimize.compact()
    writer.replace_open(frame(lake, make_row("d", 4)), Mark("l", 4))
    assert read(lake) == [("a", False)] * 3 + [("d", True)]


def test_a_row_that_lacks_what_it_must_have_is_refused(lake: str) -> None:
    row = make_row("a", 1) | {"is_known": None}
    with pytest.raises(LakeError, match="without is_known"):
        open_writer(lake).replace_open(frame(lake, row), Mark("l", 1))
    assert read(lake) == []


def test_a_table_without_partitions_is_appended_to(lake: str) -> None:
    writer = TableWriter(reading.table_path(lake, CLUSTER, QUARANTINE.name), QUARANTINE)
    delta = reading.open_table(lake, CLUSTER, QUARANTINE.name)
    assert delta is not None
    required = {
        c.name: {"STRING": "x", "INT": 0, "BIGINT": 0}[c.type]
        for c in QUARANTINE.columns
        if c.required
    }
    schema = pa.schema(delta.schema().to_arrow())
    for _ in range(2):
        writer.append(pa.Table.from_pylist([required], schema))
    assert reading.read_rows(lake, CLUSTER, "SELECT count(*) AS n FROM quarantine") == [{"n": 2}]
