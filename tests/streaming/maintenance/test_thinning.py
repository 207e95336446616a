"""offset_lag and log_ends beyond their last hours: one row a minute, and nothing else is lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.fold.lag import end_rows
from streaming.fold.lag.partition import Partition
from streaming.fold.lag.status import Thresholds
from streaming.fold.row import Row
from streaming.lake.lake import Lake
from streaming.lake.past_rows import read_ms
from streaming.lake.writer import Mark
from streaming.maintenance.thinning import THINNED, THINNED_MARK, plan_thinning, thin
from tests.reference.fold import thinned
from tests.streaming.fold.lag_log import BIRTH_MS, LagLog, working

HOUR = datetime.fromtimestamp(BIRTH_MS // 3_600_000 * 3600, UTC)
HISTORY = "SELECT * FROM lag_history ORDER BY topic, partition, width_s, bucket_at"


def reply(seed: int, most: int) -> LagLog:
    """Two hours of a group that reads, rests and is rebalanced while the log grows and rests."""
    dice, log = Random(seed), working(Thresholds(points_per_round=most))
    end = committed = 100
    for tick in range(1, 720):
        log.at(10 * tick)
        end += dice.choice((0, 0, 5, 17, 60)) if tick // 40 % 3 else 0
        if dice.random() < 0.4:
            committed = dice.randint(committed, end)
            log.offset("g", committed)
        if dice.random() < 0.02:
            log.release("g")
            log.claim("g")
        log.round({"t": end}, start=dice.choice((0, 0, 0, tick // 9)))
    log.take()
    return log


def write(path: Path, log: LagLog) -> Lake:
    lake = Lake(str(path), "c")
    lake.create_tables()
    for name in THINNED:
        lake.replace_rows(TABLE_BY_NAME[name], log.open[name], log.closed[name], Mark("l", log.seq))
    return lake


def thin_all(lake: Lake, name: str, until: datetime) -> list[str]:
    table, said = TABLE_BY_NAME[name], []
    delta = reading.open_table(lake.path, "c", name)
    assert delta is not None
    for step in plan_thinning(table, delta, until):
        current = reading.open_table(lake.path, "c", name)
        assert current is not None
        said.append(thin(table, current, dict(step.partition)["hour"]))
    return said


def read(lake: Lake, name: str) -> list[Row]:
    return read_ms(reading.open_tables(lake.path, "c"), TABLE_BY_NAME[name], "true")


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    hidden = ("fold_state", "parts", "closed_on", "cluster")
    plain = [{n: row[n] for n in sorted(row) if n not in hidden} for row in rows]
    return sorted(plain, key=lambda row: (row["topic"], row["valid_from_seq"]))


def is_alike(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float | int):
        return math.isclose(mine, theirs, rel_tol=1e-9)
    return bool(mine == theirs)


def check_alike(mine: list[Row], theirs: list[Row]) -> None:
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        assert not {n: (one[n], other[n]) for n in other if not is_alike(one[n], other[n])}


@pytest.mark.parametrize("most", [5000, 0])
@pytest.mark.parametrize("name", THINNED)
def test_thinned_rows_are_those_of_the_reference(tmp_path: Path, name: str, most: int) -> None:
    log = reply(most + 1, most)
    lake = write(tmp_path, log)
    full = read(lake, name)
    until = HOUR + timedelta(hours=2)
    assert thin_all(lake, name, until)
    got = sort_rows(read(lake, name))
    check_alike(got, sort_rows(thinned.thin(full, int(until.timestamp() * 1000))))
    if most:
        assert len(got) < 0.5 * len(full)
    assert max((row["valid_to_at"] or 0) - row["valid_from_at"] for row in full) <= max(
        (row["valid_to_at"] or 0) - row["valid_from_at"] for row in got
    )
    # Once more, by whoever forgot that it was done: nothing changes.
    table, delta = TABLE_BY_NAME[name], reading.open_table(lake.path, "c", name)
    assert delta is not None
    assert plan_thinning(table, delta, until) == []
    for hour in (HOUR, HOUR + timedelta(hours=1)):
        before, after = thin(table, delta, hour).split(" rows became ")
        assert before == after
        delta = reading.open_table(lake.path, "c", name)
        assert delta is not None
    assert sort_rows(read(lake, name)) == got


def test_what_is_asked_of_lag_is_the_same_before_and_after(tmp_path: Path) -> None:
    lake = write(tmp_path, reply(3, 5000))
    peak = "SELECT max(lag_max) AS peak, max(lag_seconds_max) AS slowest FROM offset_lag"
    peaks = "SELECT max(total_lag) AS peak FROM group_lag_history WHERE group_id = 'g'"
    before = [reading.read_rows(lake.path, "c", sql) for sql in (HISTORY, peak, peaks)]
    thin_all(lake, "offset_lag", HOUR + timedelta(hours=2))
    after = [reading.read_rows(lake.path, "c", sql) for sql in (HISTORY, peak, peaks)]
    assert before[0]
    check_alike(after[0], before[0])
    assert after[1:] == before[1:]


@pytest.mark.parametrize("seed", range(5))
def test_the_curve_of_a_log_is_the_same_from_thinned_rows(seed: int) -> None:
    full = reply(seed, 5000 if seed % 2 else 0).closed["log_ends"]
    for until in range(BIRTH_MS, BIRTH_MS + 7_200_000, 1_000_000):
        curves = []
        for rows in (full, thinned.thin(full, until)):
            partition = Partition("t", 0)
            for row in sorted(rows, key=lambda row: int(row["valid_from_seq"])):
                end_rows.recall_curve(partition, row)
            curve = partition.curve
            curves.append((curve._ends, curve._firsts, curve._lasts))
        assert curves[0] == curves[1]
        assert len(curves[0][0]) > 30


def test_a_table_made_anew_is_thinned_again(tmp_path: Path) -> None:
    log = reply(4, 5000)
    lake = write(tmp_path, log)
    table, until = TABLE_BY_NAME["offset_lag"], HOUR + timedelta(hours=2)
    thin_all(lake, table.name, until)
    delta = reading.open_table(lake.path, "c", table.name)
    assert delta is not None
    assert delta.transaction_version(THINNED_MARK) == int(HOUR.timestamp()) // 3600 + 1
    lake.find_writer(table).replace_all().commit(Mark("l", log.seq), [THINNED_MARK])
    delta.update_incremental()
    assert delta.transaction_version(THINNED_MARK) == 0
