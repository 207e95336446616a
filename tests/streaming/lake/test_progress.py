"""What the lake says of itself, without Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa

from delta_tables import reading
from delta_tables.tables.quarantine import QUARANTINE
from streaming.lake.progress import leave_log, read_progress
from streaming.lake.writer import TableWriter
from tests.delta_tables.empty_lake import make_empty_lake


def set_aside(lake: str, offset: int) -> None:
    delta = reading.open_table(lake, "c", QUARANTINE.name)
    assert delta is not None
    place = {"kafka_topic": "t", "kafka_partition": 0, "kafka_offset": offset}
    row = {**place, "ingested_at": dt.datetime.now(dt.UTC)}
    rows = pa.Table.from_pylist([row], pa.schema(delta.schema().to_arrow()))
    TableWriter(reading.table_path(lake, "c", QUARANTINE.name), QUARANTINE).append(rows)


def test_offsets_of_a_log_that_was_left_hide_no_bad_record(tmp_path: Path) -> None:
    lake = str(tmp_path)
    make_empty_lake(lake, "c", (QUARANTINE,))
    leave_log(lake, "c")
    assert read_progress(lake, "c", "t").quarantined_offset == -1
    set_aside(lake, 90)
    assert read_progress(lake, "c", "t").quarantined_offset == 90
    leave_log(lake, "c")
    assert read_progress(lake, "c", "t").quarantined_offset == -1
    set_aside(lake, 3)
    assert read_progress(lake, "c", "t").quarantined_offset == 3
    assert read_progress(lake, "c", "other").quarantined_offset == -1
