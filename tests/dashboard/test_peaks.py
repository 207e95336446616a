"""The same moment and the same peak of lag, whoever is asked: page, chart, Why, SQL, API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dashboard.lag_totals import load_peak
from dashboard.metrics.group_reading import GroupReader
from dashboard.options import Options
from dashboard.pages.groups import list_groups
from dashboard.series import load_lag
from delta_tables import reading
from delta_tables.asking.lakes import Lake as AskedLake
from delta_tables.asking.moments import write_query
from delta_tables.asking.question import Limits
from delta_tables.asking.why import RiseFilter, explain
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from streaming.fold.lag.status import Thresholds
from streaming.lake.lake import Lake
from streaming.lake.writer import Mark
from streaming.maintenance.thinning import THINNED, plan_thinning, thin
from tests.dashboard.conftest import open_client
from tests.delta_tables.small_lake import write_rows
from tests.streaming.fold.lag_log import BIRTH_MS, LagLog, working

START = datetime.fromtimestamp(BIRTH_MS / 1000, UTC)
SPAN = Span(START, START + timedelta(minutes=14))
MINE = "group_id = 'g'"
# Records that are there of t and u at each round, 10 s apart; what was committed of t.
_STEPS = [(100 + 40 * n, 100 + (70 * n if n < 31 else 2170), 100 + 30 * n) for n in range(1, 60)]


def _tell(most: int) -> tuple[LagLog, list[int]]:
    """A group that falls behind on u until its reader comes back; its lag after each round."""
    log, totals = working(Thresholds(points_per_round=most)), []
    log.topic("u")
    log.offset("g", 100, topic="u", op="create")
    for tick, (end_t, end_u, committed_t) in enumerate(_STEPS, 1):
        log.at(10 * tick - 4).offset("g", committed_t)
        committed_u = 100
        if tick > 37:
            committed_u = end_u
            log.offset("g", committed_u, topic="u")
        log.at(10 * tick).round({"t": end_t, "u": end_u})
        totals.append(end_t - committed_t + end_u - committed_u)
    log.take()
    return log, totals


def _write(path: Path, log: LagLog) -> Tables:
    lake = Lake(str(path), "c")
    lake.create_tables()
    for name in THINNED:
        lake.replace_rows(TABLE_BY_NAME[name], log.open[name], log.closed[name], Mark("l", log.seq))
    member: dict[str, Any] = {"coordinator": "zookeeper", "group_id": "g", "member_id": "m"}
    write_rows(
        str(path),
        "c",
        TABLE_BY_NAME["consumer_membership"],
        [{**member, "valid_from_at": START.isoformat()}],
    )
    tables = Tables(str(path), "c")
    tables.look()
    return tables


def _ask(path: Path, sql: str) -> Any:
    return reading.read_rows(str(path), "c", sql)


def _list_peaks(path: Path, tables: Tables) -> dict[str, Any]:
    (line,) = load_lag(tables, SPAN, MINE, "group_id")["lag"]
    peak = load_peak(tables, SPAN, MINE)
    sql = f"SELECT max(total_lag) AS most FROM group_lag_history WHERE {MINE}"
    return {
        "page": peak["lag"],
        "chart": max(value for value in line["values"] if value is not None),
        "sql": _ask(path, sql)[0]["most"],
    }


def test_the_peak_is_one_number(tmp_path: Path) -> None:
    log, totals = _tell(5000)
    tables = _write(tmp_path, log)
    peaks = _list_peaks(tmp_path, tables)
    assert set(peaks.values()) == {max(totals)}, (peaks, max(totals))
    found_at = load_peak(tables, SPAN, MINE)["at"]
    assert found_at == START + timedelta(seconds=10 * (totals.index(max(totals)) + 1))
    lakes = [AskedLake(str(tmp_path), "c")]
    (told,) = explain(lakes, RiseFilter("g", START + timedelta(minutes=10)), Limits(timeout_s=60))
    assert told.chosen is not None
    assert told.chosen.peak_lag == max(totals)
    client = open_client(Options(str(tmp_path), "c"))
    asked = {"group_id": "g", "from": SPAN.start.isoformat(), "to": SPAN.end.isoformat()}
    assert client.get("/api/group", params=asked).json()["peak"]["lag"] == max(totals)
    (answer,) = client.get("/api/why", params=asked).json()["answers"]
    assert max(rise["peak_lag"] for rise in answer["rises"]) == max(totals)


def test_no_peak_is_lost_where_rows_stand_for_a_minute(tmp_path: Path) -> None:
    log, _ = _tell(5000)
    tables = _write(tmp_path, log)
    before = _list_peaks(tmp_path, tables)
    table = TABLE_BY_NAME["offset_lag"]
    delta = reading.open_table(str(tmp_path), "c", table.name)
    assert delta is not None
    rows = len(log.closed["offset_lag"])
    for step in plan_thinning(table, delta, START + timedelta(hours=9)):
        said = thin(table, delta, dict(step.partition)["hour"])
        assert int(said.split()[-1]) < rows / 3
    tables.look(anew=True)
    after = _list_peaks(tmp_path, tables)
    # Of partitions that stand for a minute each, what they had at most may not have come together.
    assert len(set(after.values())) == 1
    assert before["page"] <= after["page"] <= 1.1 * before["page"]


@pytest.mark.parametrize("most", [5000, 0])
def test_now_is_the_last_round_and_a_moment_never_what_came_later(
    tmp_path: Path, most: int
) -> None:
    log, totals = _tell(most)
    tables = _write(tmp_path, log)
    sums = {
        "groups page": list_groups(tables, "g")[0]["lag"],
        "lag_now": _ask(tmp_path, "SELECT sum(lag) AS lag FROM lag_now")[0]["lag"],
        "group_lag_now": _ask(tmp_path, "SELECT total_lag FROM group_lag_now")[0]["total_lag"],
        "metrics": GroupReader(tables, lambda topic: True, is_merged=False, is_filled=False)
        .list_groups(with_topics=False)[0]
        .sums.lag,
    }
    assert set(sums.values()) == {totals[-1]}, sums
    for second in range(11, 590, 7):
        at = START + timedelta(seconds=second)
        sql = write_query(TABLE_BY_NAME["offset_lag"], at, every_column=True)
        rows = _ask(tmp_path, sql)
        assert all(row["committed_at"] <= row["valid_from_at"] <= at for row in rows)
        if most:
            assert sum(row["lag"] for row in rows) == totals[second // 10 - 1]
