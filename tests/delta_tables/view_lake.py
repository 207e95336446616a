"""A few rows in a lake, and what a view says of them. Times are minutes and seconds after 03:00.

rows = {"topics": [row(("orders",), 0, replicas={0: [1]})]}; ask(tmp_path, rows, "SELECT …")
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_tables, query_rows
from delta_tables.views import VIEWS
from tests.delta_tables.small_lake import Rows, write_lake

START = datetime(2026, 11, 16, 3, tzinfo=UTC)
Row = dict[str, Any]


def at(minute: float) -> datetime:
    """A moment, as a view tells it."""
    return START + timedelta(minutes=minute)


def iso(minute: float | None) -> str | None:
    """The same, as a row is written."""
    return None if minute is None else at(minute).isoformat()


def state(begin: float, end: float | None = None, ended_by: str = "changed", **columns: Any) -> Row:
    """A row that held for these minutes; its seqs are the seconds."""
    row: Row = {"valid_from_at": iso(begin), "valid_from_seq": round(begin * 60), **columns}
    if end is not None:
        row |= {"valid_to_at": iso(end), "valid_to_seq": round(end * 60), "ended_by": ended_by}
        row["closed_on"] = at(end).date().isoformat()
    return row


def ask(path: Path, rows: Mapping[str, Rows], sql: str) -> list[Row]:
    """What a query says of a lake with these rows, and nothing else in it."""
    inputs = {name for view in VIEWS if view.name in sql for name in view.inputs}
    write_lake(str(path), "c", rows, [TABLE_BY_NAME[name] for name in {*inputs, *rows}])
    return query_rows(open_tables(str(path), "c"), sql)


def pick(rows: list[Row], *names: str) -> list[tuple[Any, ...]]:
    """These columns of the rows."""
    return [tuple(row[name] for name in names) for row in rows]


def lag_row(
    begin: float, end: float | None = None, *, lag: int | None, **columns: Any
) -> dict[str, Any]:
    """A row of offset_lag of the group g on t-0, sampled when it ended."""
    known: Row = {
        "coordinator": "zookeeper",
        "group_id": "g",
        "topic": "t",
        "partition": 0,
        "incarnation": 7,
        "lag": lag,
        "status": "OK",
        "sampled_at": iso(begin if end is None else end - 0.1),
    }
    return state(begin, end, **(known | columns))


def span(held: str, begin: float, end: float, event_seq: int | None = None, **columns: Any) -> Row:
    """What held in a pause, and when: in minutes."""
    times = {"from_ms": _millis(begin), "to_ms": _millis(end), "event_seq": event_seq}
    return {"held": held, **times, "owner_member_id": "g_a", "broker_id": None, **columns}


def _millis(minute: float) -> int:
    return round(at(minute).timestamp() * 1000)


def pause(begin: float, end: float | None, *spans: Row, **columns: Any) -> Row:
    """A row of consumption_pauses of the group g on t-0."""
    known: Row = {
        "coordinator": "zookeeper",
        "group_id": "g",
        "topic": "t",
        "partition": 0,
        "held": spans[0]["held"] if spans else "unknown",
        "event_seq": spans[0]["event_seq"] if spans else None,
    }
    if end is not None:
        known |= {"spans": list(spans) or None, "most_ms": round((end - begin) * 60_000)}
    return state(begin, end, "progress", **(known | columns))
