from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import STEP_TABLES, TABLE_BY_NAME
from streaming.maintenance.retention import EVENTS_MARK, SAMPLES_MARK, Policy, read_policy
from streaming.maintenance.survey import find_today
from streaming.maintenance.upkeep import maintain, plan_table
from tests.aged import CLUSTER, Row, copy_lake, read_all, read_table
from zklake.errors import SettingsError
from zklake.settings.maintenance import MaintenanceSettings

FOREVER = Policy(sample_days=0)


def run(lake: Path, policy: Policy, *names: str) -> None:
    for outcome in maintain(str(lake), CLUSTER, names or tuple(TABLE_BY_NAME), policy):
        assert not outcome.is_error, outcome


def delete_events(lake: Path, where: str) -> None:
    events = DeltaTable(reading.table_path(str(lake), CLUSTER, "znode_events"))
    events.alter.set_table_properties({"delta.appendOnly": "false"})
    events.delete(where)


def find_breaks(events: list[Row]) -> set[int]:
    """Deletes of owners right before which something stood that ends a run of them."""
    told = [event for event in events if event["op"] != "heartbeat"]
    return {
        event["seq"]
        for before, event in pairwise(told)
        if event["op"] == "delete" and before["kind"] != "owner"
    }


def test_samples_go_after_a_week_and_nothing_else_does(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    before = read_all(tmp_path)
    run(tmp_path, Policy())
    after = read_all(tmp_path)
    limit = world.last_day - timedelta(days=7)
    samples = [e for e in before["znode_events"] if e["kind"] == "offset"]
    left = [e for e in after["znode_events"] if e["kind"] == "offset"]
    old = [e for e in left if e["observed_on"] < limit]
    assert {e["seq"] for e in left} >= {e["seq"] for e in samples if e["observed_on"] >= limit}
    assert 0 < len(old) < 0.6 * sum(e["observed_on"] < limit for e in samples)
    others = [e for e in before["znode_events"] if e["kind"] != "offset"]
    assert [e for e in after["znode_events"] if e["kind"] != "offset"] == others
    assert find_breaks(after["znode_events"]) == find_breaks(before["znode_events"])
    # Of lag, whose days are over, roll-ups are made before anything goes.
    for name in set(before) - {"znode_events", "lag_rollups"}:
        assert after[name] == before[name], name
    mark = reading.read_marker(str(tmp_path), CLUSTER, "znode_events", SAMPLES_MARK)
    assert mark == max(e["seq"] for e in before["znode_events"] if e["observed_on"] < limit)
    events = TABLE_BY_NAME["znode_events"]
    assert plan_table(str(tmp_path), CLUSTER, events, Policy())[0] == []


def test_nothing_goes_that_a_rebuild_needs(tmp_path: Path) -> None:
    """Not what follows the newest complete frame, and not what step tables are made of."""
    world = copy_lake(tmp_path)
    begin = world.first_seq + 4 * world.day_length
    delete_events(tmp_path, f"op IN ('frame_begin', 'in_sync') AND seq > {begin}")
    before = read_table(tmp_path, "znode_events")
    run(tmp_path, Policy(retention_days={"znode_events": 2}), "znode_events")
    after = read_table(tmp_path, "znode_events")
    begun = [e["seq"] for e in after if e["op"] == "frame_begin"]
    newest = world.first_seq + 3 * world.day_length
    assert begun == [world.first_seq + day * world.day_length for day in range(4)] + [begin]
    assert [e for e in after if e["seq"] >= newest] == [e for e in before if e["seq"] >= newest]
    kinds = {kind for table in STEP_TABLES for kind in table.kinds}
    for event in (e for e in after if e["seq"] < newest):
        assert event["op"] in ("frame_begin", "in_sync") or event["kind"] in kinds
    assert len([e for e in after if e["seq"] < newest]) < 0.2 * (len(before) - len(after))
    assert reading.read_marker(str(tmp_path), CLUSTER, "znode_events", EVENTS_MARK) == newest - 1


def test_without_a_complete_frame_no_event_goes(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    delete_events(tmp_path, "op = 'in_sync'")
    before = read_table(tmp_path, "znode_events")
    run(tmp_path, Policy(retention_days={"znode_events": 1}), "znode_events")
    assert read_table(tmp_path, "znode_events") == before


def test_closed_rows_go_by_date_and_open_ones_never(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    before = read_table(tmp_path, "partition_state")
    run(tmp_path, Policy(sample_days=0, retention_days={"partition_state": 3}), "partition_state")
    limit = world.last_day - timedelta(days=3)
    wanted = [row for row in before if row["is_open"] or row["closed_on"] >= limit]
    assert read_table(tmp_path, "partition_state") == wanted
    assert len(wanted) < len(before)


def test_age_counts_from_the_last_event_not_from_the_clock(tmp_path: Path) -> None:
    world = copy_lake(tmp_path)
    events = DeltaTable(reading.table_path(str(tmp_path), CLUSTER, "znode_events"))
    assert find_today(events) == world.last_day


def test_settings_name_tables_that_have_dates() -> None:
    settings = MaintenanceSettings(retention=("offset=3",))
    with pytest.raises(SettingsError, match="'offset' is no table with a date"):
        read_policy(settings)
    with pytest.raises(SettingsError, match="quarantine"):
        read_policy(MaintenanceSettings(retention=("quarantine=3",)))
    policy = read_policy(MaintenanceSettings(retention=("topics=30",), keep_hours=5))
    assert (policy.keep_hours, policy.retention_days) == (5, {"topics": 30})
