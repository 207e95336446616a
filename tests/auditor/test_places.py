"""Which znode a row speaks of, against the names that Kafka gives its znodes."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.comparison import ZnodeTable
from auditor.places import NAMES, TABLES, find_place
from delta_tables.catalog import INTERVAL_TABLES, TABLE_BY_NAME

GROUP = {"group_id": "g", "topic": "t", "partition": 3}
ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("broker_membership", {"broker_id": 7}, "/brokers/ids/7"),
    ("topics", {"topic": "t", "broker_id": None}, "/brokers/topics/t"),
    ("topics", {"topic": "t", "broker_id": 0}, "/brokers/topics/t/0"),
    ("partition_state", {"topic": "t", "partition": 0}, "/brokers/topics/t/partitions/0/state"),
    ("consumer_membership", {"group_id": "g", "member_id": "m"}, "/consumers/g/ids/m"),
    ("ownership_history", {**GROUP, "broker_id": None}, "/consumers/g/owners/t/3"),
    ("ownership_history", {**GROUP, "broker_id": 0}, "/consumers/g/owners/t/0-3"),
    ("consumer_offsets", {**GROUP, "broker_id": None}, "/consumers/g/offsets/t/3"),
    ("consumer_offsets", {**GROUP, "broker_id": 0}, "/consumers/g/offsets/t/0-3"),
    ("cluster_state", {"path": "/kafka-acl/Topic/t"}, "/kafka-acl/Topic/t"),
]


@pytest.mark.parametrize(("table", "row", "path"), ROWS)
def test_a_row_and_its_znode_are_one_place(table: str, row: dict[str, Any], path: str) -> None:
    columns, name = NAMES[table]
    assert set(columns) == set(row)
    assert name(row) == path
    assert find_place(path) == ZnodeTable(table, path)


def test_every_table_of_single_znodes_is_audited() -> None:
    assert set(NAMES) == {table.name for table in INTERVAL_TABLES} == set(TABLES.values())
    for table in INTERVAL_TABLES:
        named = {kind for kind, name in TABLES.items() if name == table.name}
        assert {*table.kinds} - named <= {"delegation_token"}
        assert set(NAMES[table.name][0]) <= set(TABLE_BY_NAME[table.name].names)


@pytest.mark.parametrize(
    "path",
    [
        "/brokers/ids",
        "/brokers/ids/007",
        "/brokers/ids/99999999999",
        "/delegation_token/tokens/x",
        "/elsewhere",
        f"/brokers/topics/{'x' * 5000}",
    ],
)
def test_other_znodes_are_not_audited(path: str) -> None:
    assert find_place(path) is None
