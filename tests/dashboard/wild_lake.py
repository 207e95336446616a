"""A lake of the oddest rows that its tables can hold: hardly anything known, or all of it wild."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard.openapi.rows import WORDS
from delta_tables.catalog import TABLES
from delta_tables.table import Column, Table
from tests.dashboard.story import Row, write
from tests.delta_tables.small_lake import write_lake

CLUSTER = "shop"
WILD_NAME = "\"'><script>alert(1)</script>\n\r\t\\u0000 \u2028 {{7*7}} %00 \x7f 🐘"
_BIG = 2**63 - 1
_VALUES: dict[str, Any] = {
    "STRING": WILD_NAME,
    "INT": 2**31 - 1,
    "BIGINT": _BIG,
    "DOUBLE": 1e308,
    "BOOLEAN": True,
    "DATE": "2026-11-16",
    "BINARY": b"\xff\x00<script>",
    "ARRAY<INT>": [2**31 - 1, -1],
    "ARRAY<STRING>": [WILD_NAME, ""],
    "MAP<STRING, INT>": {WILD_NAME: -1},
    "MAP<STRING, BIGINT>": {WILD_NAME: _BIG},
    "MAP<STRING, STRING>": {WILD_NAME: WILD_NAME},
}


def write_wild_lake(lake: str) -> None:
    """Every table that holds states, and the quarantine."""
    now = datetime.now(UTC).replace(microsecond=0)
    rows = {
        table.name: [_make_sparse(table), *(_make_wild(table, now, n) for n in range(4))]
        for table in TABLES
        if table.is_interval or table.name == "quarantine"
    }
    write_lake(lake, CLUSTER, rows)


def _make_sparse(table: Table) -> Row:
    """Only what must be there."""
    return {
        column.name: WORDS[column.name][0]
        for column in table.columns
        if column.required and column.name in WORDS
    }


def _make_wild(table: Table, now: datetime, number: int) -> Row:
    """Of every two, one is closed; two open ones make sums run over."""
    row = {column.name: _choose(column, now) for column in table.columns}
    row = {name: value for name, value in row.items() if value is not None}
    if "partition" in row:
        row["partition"] = number
    if not table.is_interval:
        return {**row, "kafka_offset": number}
    is_open = number % 2 == 0
    start, end = now - timedelta(minutes=20 + number), now - timedelta(minutes=5)
    return {
        **row,
        "cluster": CLUSTER,
        "is_open": is_open,
        "valid_from_seq": number,
        "valid_to_seq": None if is_open else number + 10,
        "valid_from_at": write(start),
        "valid_to_at": None if is_open else write(end),
        "closed_on": None if is_open else end.date().isoformat(),
        "ended_by": None if is_open else table.ends[number % len(table.ends)],
    }


def _choose(column: Column, now: datetime) -> Any:
    if column.name in WORDS:
        return WORDS[column.name][-1]
    if column.type == "TIMESTAMP":
        return write(now)
    if column.type.startswith("MAP<INT"):
        return {0: [2**31 - 1], 2**31 - 1: [0]}
    if column.type.startswith("ARRAY<STRUCT<"):
        fields = re.findall(r"(\w+): (\w+)", column.type)
        return [{name: _VALUES[type_] for name, type_ in fields}, dict.fromkeys(dict(fields))]
    return _VALUES[column.type]
