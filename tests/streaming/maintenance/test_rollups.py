from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_tables, query_rows
from streaming.maintenance import rollups
from streaming.maintenance.retention import Policy
from streaming.maintenance.rollups import ROLLED_MARK
from streaming.maintenance.upkeep import maintain, plan_table
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import START, iso, lag_row

DAY = 24 * 60
OFFSET_LAG = TABLE_BY_NAME["offset_lag"]
HISTORY = "SELECT * FROM lag_history ORDER BY topic, partition, width_s, bucket_at"
# In the past, for a lake is never ahead of the clock.
FIRST = -10 * DAY
FIRST_DAY = START.date() - timedelta(days=10)
TODAY = FIRST_DAY + timedelta(days=5)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    """Five days of lag that changes every seventh hour, of lag that stays, and of one gone."""
    steps = range(FIRST, FIRST + 5 * DAY, 7 * 60)
    busy = [lag_row(m, m + 7 * 60, lag=m % 11, lag_seconds=0.5) for m in steps]
    still = lag_row(FIRST + 30, partition=1, lag=3, status="STALLED")
    still["sampled_at"] = iso(FIRST + 5 * DAY)
    gone = lag_row(FIRST + 60, FIRST + 2 * DAY, ended_by="deleted", partition=2, lag=9)
    event = {"seq": 1, "op": "heartbeat", "observed_on": str(TODAY)}
    rows = {"offset_lag": [*busy, still, gone], "znode_events": [event]}
    tables = [TABLE_BY_NAME[name] for name in (*rows, "lag_rollups")]
    write_lake(str(tmp_path), "c", rows, tables)
    return str(tmp_path)


def run(lake: str, policy: Policy) -> list[str]:
    done = list(maintain(lake, "c", ["offset_lag"], policy))
    assert not [one for one in done if one.is_error], done
    return [f"{one.action} {one.says}" for one in done]


def ask(lake: str, sql: str) -> list[dict[str, Any]]:
    return query_rows(open_tables(lake, "c"), sql)


def test_history_is_the_same_before_and_after(lake: str) -> None:
    before = ask(lake, HISTORY)
    assert {row["width_s"] for row in before} == {300, 3600}
    done = run(lake, Policy())
    days = [str(FIRST_DAY + timedelta(days=n)) for n in range(4)]
    assert [one.split()[1] for one in done if one.startswith("roll_up")] == days
    rolled = ask(lake, "SELECT day, count(*) AS n FROM lag_rollups GROUP BY day ORDER BY day")
    assert [str(row["day"]) for row in rolled] == days
    assert sum(row["n"] for row in rolled) == sum(str(row["day"]) in days for row in before)
    assert ask(lake, HISTORY) == before
    mark = reading.read_marker(lake, "c", "lag_rollups", ROLLED_MARK)
    assert date.fromordinal(mark) == TODAY - timedelta(days=2)
    assert [
        s for s in plan_table(lake, "c", OFFSET_LAG, Policy())[0] if s.action == "roll_up"
    ] == []


def test_what_is_trimmed_was_rolled_up_before(lake: str) -> None:
    before = ask(lake, HISTORY)
    done = run(lake, Policy(retention_days={"offset_lag": 1}))
    actions = [one.split()[0] for one in done]
    assert actions.index("trim") > max(n for n, a in enumerate(actions) if a == "roll_up")
    closed = ask(lake, "SELECT min(closed_on) AS first FROM offset_lag")[0]["first"]
    assert closed >= TODAY - timedelta(days=1)
    assert ask(lake, HISTORY) == before


def test_a_day_made_again_or_in_parts_is_the_same(
    lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = FIRST_DAY + timedelta(days=1)
    source = open_tables(lake, "c")["offset_lag"]
    rows = "SELECT * FROM lag_rollups ORDER BY partition, width_s, bucket_at"
    rollups.roll_up(lake, "c", source, day)
    once = ask(lake, rows)
    assert once
    assert {row["day"] for row in once} == {day}
    monkeypatch.setattr(rollups, "_split_day", lambda engine: [(0, 7), (7, 8), (8, 24)])
    assert rollups.roll_up(lake, "c", source, day) == f"{len(once)} rows"
    assert ask(lake, rows) == once


def test_a_failure_keeps_the_rows(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollups, "_build_engine", lambda *_: 1 / 0)
    policy = Policy(retention_days={"offset_lag": 1})
    done = list(maintain(lake, "c", ["offset_lag"], policy))
    assert done[0].is_error
    assert "trim" not in [one.action for one in done]


def test_nothing_to_roll_up(tmp_path: Path) -> None:
    event = {"seq": 1, "op": "heartbeat", "observed_on": str(TODAY)}
    tables = [TABLE_BY_NAME[name] for name in ("offset_lag", "znode_events")]
    write_lake(str(tmp_path), "c", {"znode_events": [event]}, tables)
    steps = plan_table(str(tmp_path), "c", OFFSET_LAG, Policy())[0]
    assert "roll_up" not in [step.action for step in steps]
