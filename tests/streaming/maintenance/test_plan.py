from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.quarantine import QUARANTINE
from streaming.maintenance.gathering import STEP_BYTES, STEP_FILES, choose_files
from streaming.maintenance.plan import plan
from streaming.maintenance.retention import Policy
from streaming.maintenance.survey import TablePartition, TableSurvey

TODAY = date(2026, 11, 16)
BEFORE = date(2026, 11, 15)
HOURS = {
    f"delta.{name}Duration": "interval 2 hours" for name in ("logRetention", "deletedFileRetention")
}


def look(*parts: TablePartition, dead: int = 0, dead_log: int = 0) -> TableSurvey:
    return TableSurvey(HOURS, parts, dead, dead_log, {})


def closed(on: date | None, files: int, size: int = 1000) -> TablePartition:
    return TablePartition({"is_open": False, "closed_on": on}, files, size, None, None)


@pytest.mark.parametrize(
    ("part", "actions"),
    [
        (closed(BEFORE, 1), []),
        (closed(BEFORE, 2), ["sort"]),
        (closed(BEFORE, 9, 4 * STEP_BYTES), []),
        (closed(BEFORE, 90, 4 * STEP_BYTES), ["gather"] * 4),
        (closed(BEFORE, STEP_FILES), ["sort"]),
        (closed(BEFORE, 2 * STEP_FILES + 1), ["gather"] * 3 + ["sort"]),
        (closed(BEFORE, 2 * STEP_FILES + 1, 2 * STEP_BYTES), ["gather"] * 3),
        (closed(TODAY, 32), []),
        (closed(TODAY, 33), ["merge"]),
        (closed(TODAY, STEP_FILES + 1), ["gather"] * 2),
        (closed(None, 99), []),
        (TablePartition({"is_open": True, "closed_on": None}, 99, 1000, None, None), []),
    ],
)
def test_files_become_few_and_stay_so(part: TablePartition, actions: list[str]) -> None:
    steps = plan(PARTITION_STATE, look(part), Policy(), TODAY, None)
    assert [step.action for step in steps] == actions


def test_a_step_takes_the_oldest_small_files_that_fit_into_it() -> None:
    def file(age: int, size: int) -> dict[str, int]:
        return {"modification_time": 1000 - age, "size_bytes": size}

    half = STEP_BYTES // 2
    files = [file(1, 10), file(9, half), file(5, half + 1), file(8, half), file(7, 1)]
    assert choose_files(files) == [file(9, half), file(8, half)]
    many = [file(age, 1) for age in range(STEP_FILES + 7)]
    assert choose_files(many) == many[:6:-1]


def test_what_a_step_made_is_not_read_by_the_next_while_others_lie_by_the_thousand() -> None:
    # Most of a small file says how to read it.
    footer, rows = 25_000, 5_000
    files = [{"modification_time": n, "size_bytes": footer + rows} for n in range(20 * STEP_FILES)]
    for _ in range(20):
        chosen = choose_files(files)
        taken = {each["modification_time"] for each in chosen}
        files = [each for each in files if each["modification_time"] not in taken]
        size = footer + sum(each["size_bytes"] - footer for each in chosen)
        files.append({"modification_time": max(taken), "size_bytes": size})
    assert len(files) == 20


def test_in_the_end_a_large_date_is_compact() -> None:
    """Whatever its files, steps that each join some of them come to an end."""
    sizes = [(7919 * n) % (STEP_BYTES // 3) + 1 for n in range(3000)]
    files = [{"modification_time": n, "size_bytes": size} for n, size in enumerate(sizes)]
    steps = 0
    while actions := plan(
        PARTITION_STATE, look(closed(BEFORE, len(files), sum(sizes))), Policy(), TODAY, None
    ):
        for _ in actions:
            chosen = choose_files(files)
            files = [each for each in files if each not in chosen]
            size = sum(each["size_bytes"] for each in chosen)
            files.append({"modification_time": len(sizes) + steps, "size_bytes": size})
            steps += 1
        assert steps < 2 * sum(sizes) / STEP_BYTES + 10


def test_a_table_without_dates_only_merges() -> None:
    values: dict[str, Any] = {}
    steps = plan(
        QUARANTINE, look(TablePartition(values, 40, 1000, None, None)), Policy(), TODAY, None
    )
    assert [(step.action, step.partition) for step in steps] == [("merge", ())]


def test_dead_files_are_removed_last_and_only_if_there_are_any() -> None:
    steps = plan(
        PARTITION_STATE, look(closed(BEFORE, 2), dead=3, dead_log=4), Policy(), TODAY, None
    )
    assert [step.action for step in steps] == ["sort", "vacuum", "clean"]
    assert [step.says for step in steps[1:]] == ["3 files", "4 files of the log"]


def test_properties_follow_the_settings() -> None:
    (step,) = plan(PARTITION_STATE, look(), Policy(keep_hours=5), TODAY, None)
    assert dict(step.properties) == dict.fromkeys(HOURS, "interval 5 hours")
