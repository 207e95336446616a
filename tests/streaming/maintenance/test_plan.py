from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.quarantine import QUARANTINE
from streaming.maintenance.plan import TARGET_BYTES, plan
from streaming.maintenance.retention import Policy
from streaming.maintenance.survey import Look, Part

TODAY = date(2026, 11, 16)
BEFORE = date(2026, 11, 15)
HOURS = {
    f"delta.{name}Duration": "interval 2 hours" for name in ("logRetention", "deletedFileRetention")
}


def look(*parts: Part, dead: int = 0, dead_log: int = 0) -> Look:
    return Look(HOURS, parts, dead, dead_log, {})


def closed(on: date | None, files: int, size: int = 1000) -> Part:
    return Part({"is_open": False, "closed_on": on}, files, size, None)


@pytest.mark.parametrize(
    ("part", "actions"),
    [
        (closed(BEFORE, 1), []),
        (closed(BEFORE, 2), ["sort"]),
        (closed(BEFORE, 6, 4 * TARGET_BYTES), []),
        (closed(BEFORE, 90, 4 * TARGET_BYTES), ["sort"]),
        (closed(TODAY, 32), []),
        (closed(TODAY, 33), ["merge"]),
        (closed(None, 99), []),
        (Part({"is_open": True, "closed_on": None}, 99, 1000, None), []),
    ],
)
def test_files_become_few_and_stay_so(part: Part, actions: list[str]) -> None:
    steps = plan(PARTITION_STATE, look(part), Policy(), TODAY, None)
    assert [step.action for step in steps] == actions


def test_a_table_without_dates_only_merges() -> None:
    values: dict[str, Any] = {}
    steps = plan(QUARANTINE, look(Part(values, 40, 1000, None)), Policy(), TODAY, None)
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
