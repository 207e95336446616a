"""Groups as Burrow would see them, read from a lake."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dashboard.dialects.burrow.evaluation import Commit, Owner
from dashboard.dialects.burrow.reading import list_groups, read_group, read_groups
from dashboard.dialects.burrow.sight import LakeView
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_table, query_rows
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import Row, at, iso, state


def look(lake: Path, moment: datetime, *, is_past: bool = True) -> LakeView:
    def ask(sql: str, *names: str) -> list[dict[str, Any]]:
        opened = {name: open_table(str(lake), "c", name) for name in names}
        tables = {name: table for name, table in opened.items() if table is not None}
        return query_rows(tables, sql) if len(tables) == len(names) else []

    return LakeView(ask, "c", moment, is_past)


def write_one(tmp_path: Path, commits: list[Row], ends: list[Row], **others: list[Row]) -> None:
    rows = {"consumer_offsets": commits, "log_ends": ends, **others}
    write_lake(str(tmp_path), "c", rows, [TABLE_BY_NAME[name] for name in rows])


def commit(minute: float, offset: int, end: float | None = None, **columns: Any) -> Row:
    place = {"coordinator": "zookeeper", "group_id": "g", "topic": "t", "partition": 0}
    return state(minute, end, **{**place, "committed_offset": offset, **columns})


def log_end(offset: int, **columns: Any) -> Row:
    return state(0, **{"topic": "t", "partition": 0, "log_end_offset": offset, **columns}) | {
        "sampled_at": iso(0)
    }


def test_a_group_read_from_a_lake_at_any_moment(tmp_path: Path) -> None:
    """It commits every minute, 5 behind, and stops at 03:12 while the log goes on."""
    place: Row = {"coordinator": "zookeeper", "group_id": "it's", "topic": "t", "partition": 0}
    commits = [
        state(minute, minute + 1, **place, committed_offset=100 * minute - 5)
        for minute in range(1, 12)
    ]
    commits.append(state(12, **place, committed_offset=1195))
    ends = [
        state(minute, minute + 1, topic="t", partition=0, log_end_offset=100 * minute)
        | {"sampled_at": iso(minute)}
        for minute in range(40)
    ]
    rows = {
        "consumer_offsets": commits,
        "log_ends": ends,
        "ownership_history": [state(0, 20, "deleted", **place, owner="g_a-0")],
    }
    write_lake(str(tmp_path), "c", rows, [TABLE_BY_NAME[name] for name in rows])

    early = read_group(look(tmp_path, at(5.5)), "it's")
    assert (early.status, early.total_lag, early.complete) == ("WARN", 5, 0)
    later = read_group(look(tmp_path, at(13)), "it's")
    assert (later.status, later.total_lag, later.complete) == ("WARN", 105, 1)
    assert later.partitions[0].owner == Owner("g_a-0")
    stopped = read_group(look(tmp_path, at(22)), "it's")
    assert (stopped.status, stopped.partitions[0].status) == ("ERR", "STOP")
    assert stopped.partitions[0].owner == Owner()
    end = stopped.partitions[0].end
    assert end == Commit(1195, round(at(12).timestamp() * 1000), 5)
    assert read_group(look(tmp_path, at(13)), "another").status == "NOTFOUND"
    assert read_group(look(tmp_path, at(12) + timedelta(days=8)), "it's").status == "NOTFOUND"
    assert list_groups(look(tmp_path, at(13))) == {"it's": ["t"]}
    assert list_groups(look(tmp_path, at(12) + timedelta(days=8))) == {}


def test_a_partition_nobody_committed_counts_and_is_ok(tmp_path: Path) -> None:
    write_one(tmp_path, [commit(1, 5)], [log_end(9, partition=p) for p in range(3)])
    found = read_group(look(tmp_path, at(1), is_past=False), "g")
    assert [one.partition for one in found.partitions] == [0, 1, 2]
    assert [(one.status, one.complete, one.start) for one in found.partitions[1:]] == [
        ("OK", 0.0, None)
    ] * 2
    assert (found.total_lag, found.complete) == (4, 0)


def test_what_burrow_would_drop_is_dropped(tmp_path: Path) -> None:
    """Of another topic of that name, of no topic, of a partition nobody has, of no offset, ..."""
    commits = [
        commit(1, 5, topic="again", valid_from_zxid=40),
        commit(1, 5, topic="gone"),
        commit(1, 5, partition=2**31 - 1),
        commit(1, -1),
        commit(1, 5, broker_id=1),
    ]
    ends = [log_end(9), log_end(9, topic="again", incarnation=41)]
    write_one(tmp_path, commits, ends)
    sight = look(tmp_path, at(2), is_past=False)
    assert read_group(sight, "g").status == "NOTFOUND"
    assert list_groups(sight) == {}


def test_two_coordinators_are_one_group_and_the_later_commit_counts(tmp_path: Path) -> None:
    commits = [commit(1, 5), commit(2, 8, coordinator="kafka"), commit(1, 1, group_id="h")]
    owners = [
        state(0, coordinator="kafka", group_id="g", topic="t", partition=0, owner="m")
        | {"owner_member_id": "m"}
    ]
    members = [
        state(0, coordinator="kafka", group_id="g", member_id="m", host="/10.0.0.1")
        | {"client_id": "web"}
    ]
    others = {"ownership_history": owners, "consumer_membership": members}
    write_one(tmp_path, commits, [log_end(9)], **others)
    found = read_groups(look(tmp_path, at(3), is_past=False), ["g", "h", "?"])
    assert {name: one.total_lag for name, one in found.items()} == {"g": 1, "h": 8, "?": 0}
    assert found["g"].partitions[0].owner == Owner("/10.0.0.1", "web")
    assert found["?"].status == "NOTFOUND"
    assert found["?"].complete == 1.0


def test_a_wrong_clock_breaks_nothing(tmp_path: Path) -> None:
    times = ("0001-01-02T00:00:00Z", "9999-12-31T00:00:00Z")
    commits = [commit(1, 5, partition=p) | {"valid_from_at": times[p]} for p in (0, 1)]
    write_one(tmp_path, commits, [log_end(9, partition=p) for p in (0, 1)])
    found = read_group(look(tmp_path, at(3), is_past=False), "g")
    assert [one.current_lag for one in found.partitions] == [4, 4]
