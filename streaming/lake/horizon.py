"""Where a rebuild begins when old events were trimmed, and what it takes over from the table.

Rows that ended by then stay as they are; those that stood then are where the fold goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from delta_tables import reading
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.lake.arrow_rows import find_schema
from streaming.lake.lake import Lake
from streaming.maintenance.retention import EVENTS_MARK, SAMPLE_KINDS, SAMPLES_MARK


def read_horizon(lake: Lake, table: Table) -> int:
    """The last seq up to which events of the table may be missing; -1: znode_events has all."""
    marks = [EVENTS_MARK]
    is_sampled = table.samples is not None or table.folded == "groups"
    if is_sampled or set(table.kinds) & set(SAMPLE_KINDS):
        marks.append(SAMPLES_MARK)
    name = ZNODE_EVENTS.name
    return max(reading.read_marker(lake.path, lake.cluster, name, mark) for mark in marks)


def read_ended(lake: Lake, table: Table, horizon: int) -> Iterator[pa.Table]:
    """The rows that no event after the horizon can change."""
    delta = reading.open_table(lake.path, lake.cluster, table.name)
    if delta is None or horizon < 0:
        return
    sql = f"SELECT * FROM {table.name} WHERE NOT is_open AND valid_to_seq <= {horizon}"
    found = reading.build_engine({table.name: [delta]}, sql).execute(sql)
    schema = find_schema(table.name)
    for batch in pa.RecordBatchReader.from_stream(found):
        yield pa.Table.from_batches([batch]).select(schema.names).cast(schema)
