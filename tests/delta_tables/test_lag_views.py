"""What the views over lag say: the present of a group, and its history in buckets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.delta_tables.view_lake import Row, ask, at, iso, lag_row, pick, state


def own(begin: float, end: float | None = None, *, owner: str | None, **columns: Any) -> Row:
    place: Row = {"coordinator": "zookeeper", "group_id": "g", "topic": "t", "partition": begin}
    return state(begin, end, **(place | columns), owner=owner)


def test_the_lag_of_groups_now(tmp_path: Path) -> None:
    rows = {
        "offset_lag": [
            lag_row(0, 5, lag=999_999),
            lag_row(5, lag=7, owner="g_a-0", lag_seconds=1.5, velocity=-0.5, lost_records=2),
            lag_row(5, lag=70, partition=1, status="STALLED", status_since=iso(4))
            | {"loss_at": iso(99), "lag_seconds": 30.0, "velocity": 2.0},
            lag_row(5, lag=1, partition=2, status="STALLED", status_since=iso(3)),
            lag_row(5, lag=None, partition=3, status=None),
            lag_row(5, lag=None, group_id="dark", status=None),
        ],
        "ownership_history": [
            own(0, owner="g_a-0"),
            # Somebody owns it, though nobody could read who.
            own(1, owner=None),
            own(2, 4, owner="g_a-0", partition=2),
        ],
        "consumer_membership": [
            state(0, coordinator="zookeeper", group_id="g", member_id="g_a"),
            state(0, 1, coordinator="zookeeper", group_id="g", member_id="g_b"),
            state(0, coordinator="kafka", group_id="g", member_id="g_c"),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM group_lag_now ORDER BY group_id DESC")
    names = ("group_id", "status", "status_since", "total_lag", "max_lag", "max_lag_partition")
    assert pick(found, *names) == [
        ("g", "STALLED", at(3), 78, 70, "t-1"),
        ("dark", None, None, None, None, None),
    ]
    more = ("partitions", "unknown", "unowned", "members", "loss_at", "lost_records", "velocity")
    assert pick(found, *more) == [
        (4, 1, 2, 1, at(99), 2, 1.5),
        (1, 1, 1, 0, None, None, None),
    ]
    assert found[0]["max_lag_seconds"] == 30.0


@pytest.mark.parametrize(
    ("others", "seconds"),
    [
        ([], 20.0),
        ([{"lag": 0}], 20.0),
        ([{"lag": None}], 20.0),
        ([{"lag": 3, "catch_up_seconds": 90.0}], 90.0),
        # It is not caught up while one partition is not catching up.
        ([{"lag": 3}], None),
        ([{"lag": 3, "catch_up_seconds": 90.0}, {"lag": 1, "velocity": 2.0}], None),
    ],
)
def test_a_group_has_caught_up_with_its_last_partition(
    tmp_path: Path, others: list[Row], seconds: float | None
) -> None:
    rows = [lag_row(0, lag=10, velocity=-0.5, catch_up_seconds=20.0)]
    rows += [lag_row(0, partition=number, **other) for number, other in enumerate(others, 1)]
    (found,) = ask(tmp_path, {"offset_lag": rows}, "SELECT * FROM group_lag_now")
    assert found["catch_up_seconds"] == seconds


HISTORY: list[Row] = [
    lag_row(0, 4, lag=10, lag_seconds=1.0),
    lag_row(4, 6, lag=20, status="WARN", lag_seconds=2.0),
    lag_row(6, 62, lag=0),
    lag_row(62, 64, lag=None, status=None),
    lag_row(64, 66, ended_by="deleted", lag=8),
]
BUCKET = ("bucket_at", "min_lag", "max_lag", "last_lag", "mean_lag", "worst_status", "points")


def test_lag_in_buckets(tmp_path: Path) -> None:
    sql = "SELECT * FROM lag_history WHERE width_s = 300 ORDER BY bucket_at"
    found = ask(tmp_path, {"offset_lag": HISTORY}, sql)
    assert pick(found, *BUCKET) == [
        # Four minutes of 10, one of 20.
        (at(0), 10, 20, 20, 12.0, "WARN", 2),
        # One of 20, four of 0; then an hour in which nothing changed has no bucket.
        (at(5), 0, 20, 0, 4.0, "WARN", 1),
        # Two of 0, two of nobody knows, one of 8; then it is gone.
        (at(60), 0, 8, 8, 8 / 3, "OK", 2),
        (at(65), 8, 8, None, 8.0, "OK", 0),
    ]
    assert [row["max_lag_seconds"] for row in found] == [2.0, 2.0, None, None]


def test_lag_by_the_hour(tmp_path: Path) -> None:
    sql = "SELECT * FROM lag_history WHERE width_s = 3600 ORDER BY bucket_at"
    found = ask(tmp_path, {"offset_lag": HISTORY}, sql)
    assert pick(found, *BUCKET) == [
        (at(0), 0, 20, 0, 80 / 60, "WARN", 3),
        (at(60), 0, 8, None, 4.0, "OK", 2),
    ]


def test_what_stays_as_it_is_shows_once_a_day(tmp_path: Path) -> None:
    day = 24 * 60
    rows = {"offset_lag": [lag_row(1, lag=5), lag_row(2 * day, partition=1, lag=7)]}
    sql = "SELECT * FROM lag_history WHERE width_s = 300 ORDER BY partition, bucket_at"
    found = ask(tmp_path, rows, sql)
    midnight = 21 * 60
    assert pick(found, "partition", "bucket_at", "last_lag", "points") == [
        (0, at(0), 5, 1),
        (0, at(midnight), 5, 0),
        (0, at(midnight + day), 5, 0),
        (1, at(2 * day), 7, 1),
    ]
    assert [row["mean_lag"] for row in found] == [5.0, 5.0, 5.0, 7.0]


def test_rolled_days_are_not_told_twice(tmp_path: Path) -> None:
    key = {"coordinator": "zookeeper", "group_id": "g", "topic": "t", "partition": 0}
    bucket = {**key, "width_s": 300, "bucket_at": iso(0), "day": "2026-11-16", "last_lag": 33}
    midnight = 21 * 60
    rows = {
        "lag_rollups": [bucket],
        "offset_lag": [lag_row(0, midnight + 7, lag=10), lag_row(midnight + 7, lag=4)],
    }
    sql = "SELECT * FROM lag_history WHERE width_s = 300 ORDER BY bucket_at"
    assert pick(ask(tmp_path, rows, sql), "bucket_at", "last_lag", "mean_lag") == [
        (at(0), 33, None),
        (at(midnight), 10, 10.0),
        (at(midnight + 5), 4, (2 * 10 + 3 * 4) / 5),
    ]
