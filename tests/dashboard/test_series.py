from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.series import choose_step, load_lag
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from tests.delta_tables.small_lake import write_lake

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = Span(START, START + timedelta(hours=1))


def _row(partition: int, start: int, end: int | None, lag: int | None, seen: int) -> dict[str, Any]:
    """From minute to minute."""

    def write(minute: int) -> str:
        return (START + timedelta(minutes=minute)).isoformat()

    return {
        "coordinator": "zookeeper",
        "group_id": "g",
        "topic": "t",
        "partition": partition,
        "lag": lag,
        "lag_seconds": None if lag is None else lag / 10,
        "valid_from_seq": 1000 + start,
        "valid_from_at": write(start),
        "valid_to_at": None if end is None else write(end),
        "closed_on": None if end is None else str(START.date()),
        "sampled_at": write(seen),
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    lake = str(tmp_path_factory.mktemp("lag"))
    rows = [
        _row(0, -30, 10, 5, 10),
        _row(0, 10, 11, 900, 11),
        _row(0, 11, None, 7, 40),
        _row(1, 20, 30, 100, 30),
        _row(2, 20, None, None, 40),
    ]
    write_lake(lake, "c", {"offset_lag": rows}, [TABLE_BY_NAME["offset_lag"]])
    tables = Tables(lake, "c")
    tables.look()
    return tables


def test_a_line_holds_what_was_said_until_its_row_ends(tables: Tables) -> None:
    lag = load_lag(tables, HOUR, "group_id = 'g'", "'p' || partition")
    lines = {line["label"]: line["values"] for line in lag["lag"]}
    assert lag["x"][:2] == [START.timestamp(), START.timestamp() + 60]
    assert lines["p0"][:10] == [5] * 10
    assert lines["p0"][10:12] == [900, 7]
    # Nobody has asked since minute 40: what is not known is not drawn.
    assert lines["p0"][12:41] == [7] * 29
    assert lines["p0"][41:] == [None] * 20
    assert lines["p1"][19:31] == [None, *[100] * 10, None]
    assert set(lines["p2"]) == {None}


def test_lines_of_one_name_are_added_up(tables: Tables) -> None:
    lag = load_lag(tables, HOUR, "group_id = 'g'", "group_id")
    (line,), (seconds,) = lag["lag"], lag["lag_seconds"]
    assert line["values"][25] == 107
    assert seconds["values"][25] == 10.0


def test_nothing_is_drawn_of_a_group_without_lag(tables: Tables) -> None:
    assert load_lag(tables, HOUR, "group_id = 'x'", "group_id")["x"] == []


@pytest.mark.parametrize(
    ("hours", "step"), [(0.25, 15), (1, 60), (6, 300), (24, 600), (720, 21_600)]
)
def test_a_chart_has_some_hundred_points(hours: float, step: int) -> None:
    assert choose_step(Span(START, START + timedelta(hours=hours))) == step
