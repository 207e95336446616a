"""A lake that an older zklake wrote: its rows of lag are read, and the stream goes on with them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from deltalake import CommitProperties, Transaction, write_deltalake

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.creation import create_table
from delta_tables.table import Table
from streaming.lake.arrow_rows import make_arrow
from streaming.lake.past_rows import read_ms
from tests.streaming.lake.test_law_lake import CLUSTER, LENGTH, SEED, Kafka, expect_all, make_log

# Columns that the tables did not have.
NEW = {
    "offset_lag": (
        "lag_min lag_max lag_mean lag_last lag_seconds_min lag_seconds_max lag_seconds_last "
        "committed_offset_last committed_at_last log_end_offset_last velocity_last points"
    ),
    "log_ends": ("log_start_offset_last log_end_offset_last sampled_at_last confirmed_at_last"),
}


def make_older(kafka: Kafka, name: str) -> None:
    """The table as it would lie there without its new columns."""
    table = TABLE_BY_NAME[name]
    columns = tuple(one for one in table.columns if one.name not in NEW[name].split())
    older: Table = replace(table, columns=columns)
    rows = read_ms(reading.open_tables(kafka.path, CLUSTER), table, "true")
    log_id = make_log(SEED, LENGTH)[0].log_id
    marker = reading.read_marker(kafka.path, CLUSTER, name, log_id)
    path = reading.table_path(kafka.path, CLUSTER, name)
    shutil.rmtree(path)
    create_table(older, path)
    held = make_arrow(table, rows).select([one.name for one in columns])
    mark = CommitProperties(app_transactions=[Transaction(log_id, marker)])
    write_deltalake(path, held, mode="append", commit_properties=mark)


def test_a_lake_without_the_new_columns_is_read_and_goes_on(tmp_path: Path) -> None:
    events, wanted = expect_all(SEED, LENGTH)
    kafka = Kafka(tmp_path, events)
    kafka.fold(45, most=2)
    for name in NEW:
        assert kafka.read(name), name
        make_older(kafka, name)
    for view in ("lag_now", "log_ends_now", "group_lag_now", "lag_history", "group_lag_history"):
        reading.read_rows(kafka.path, CLUSTER, f"SELECT * FROM {view}")
    before = reading.read_rows(kafka.path, CLUSTER, "SELECT sum(lag) AS lag FROM lag_now")
    assert before[0]["lag"] is not None
    # A newer stream starts.
    Kafka(tmp_path, events)
    assert reading.read_rows(kafka.path, CLUSTER, "SELECT sum(lag) AS lag FROM lag_now") == before
    kafka.fold(41)
    for name, columns in NEW.items():
        key = TABLE_BY_NAME[name].key
        got, theirs = (
            {tuple(row[k] for k in key): row for row in rows if row["is_open"]}
            for rows in (kafka.read(name), wanted[name])
        )
        assert got
        assert got.keys() == theirs.keys()
        plain = set(TABLE_BY_NAME[name].names).difference(
            columns.split(), ("fold_state", "cluster")
        )
        for place, row in got.items():
            assert {n: str(row[n]) for n in plain - {"closed_on"}} == {
                n: str(theirs[place][n]) for n in plain - {"closed_on"}
            }
