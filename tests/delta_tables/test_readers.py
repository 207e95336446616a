"""Tables through deltalake, polars and DuckDB: lists, maps and structs too."""

from __future__ import annotations

from pathlib import Path

from delta_tables import reading
from tests.aged import CLUSTER, copy_lake
from tests.delta_tables.readers import check_readers, spell

NESTED = {
    "partition_state": "isr",
    "topics": "replicas",
    "broker_membership": "endpoints",
    "consumer_membership": "subscription",
    "znode_events": "stat",
}


def test_everybody_reads_the_same(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    check_readers(str(tmp_path), CLUSTER)
    for table, column in NESTED.items():
        sql = f"SELECT count({column}) AS n FROM {table}"
        (row,) = reading.read_rows(str(tmp_path), CLUSTER, sql)
        assert row["n"] > 0, f"nothing in {column} was compared"


def test_the_windows_of_a_query_are_not_divided_between_threads(tmp_path: Path) -> None:
    """On two cores `zklake why` failed so on a lake of ten minutes: out of memory, it said."""
    copy_lake(tmp_path)
    both = "(SELECT * FROM partition_state UNION SELECT * FROM partition_state)"
    sql = f"EXPLAIN SELECT lag(leader) OVER (PARTITION BY topic ORDER BY seen_seq) FROM {both}"
    plan = str(reading.read_rows(str(tmp_path), CLUSTER, sql))
    window = plan.split("WindowAggExec", 1)[1].split("AggregateExec", 1)[0]
    assert "Hash([topic" not in window


def test_values_are_the_same_whoever_read_them_and_others_are_not() -> None:
    replicas = {0: [1, 2], 1: [2, 3]}
    pairs = [{"key": 1, "value": [2, 3]}, {"key": 0, "value": [1, 2]}]
    assert spell(replicas) == spell(pairs)
    for other in ({0: [1, 2]}, {0: [2, 1], 1: [2, 3]}, [[1, 2], [2, 3]], None):
        assert spell(other) != spell(replicas)
    stat = {"czxid": 1, "version": None}
    assert spell(stat) != spell({"czxid": 1, "version": 0})
