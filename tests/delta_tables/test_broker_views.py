"""What the views over brokers and partitions say: absences, reigns, ISRs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.delta_tables.view_lake import Row, ask, at, pick, state


def test_when_brokers_were_away(tmp_path: Path) -> None:
    def broker(broker_id: int, begin: float, end: float | None, ended_by: str = "") -> Row:
        return state(begin, end, ended_by, broker_id=broker_id, session=round(begin) + 1)

    rows = {
        "broker_membership": [
            broker(1, 0, 10, "session_ended"),
            broker(1, 12, 30, "deleted"),
            broker(1, 31, 90, "changed"),
            broker(1, 90, 100, "session_ended"),
            broker(2, 0, 50, "migrated"),
            broker(3, 0, None),
        ]
    }
    found = ask(tmp_path, rows, "SELECT * FROM broker_flaps ORDER BY left_at")
    names = ("broker_id", "left_at", "back_at", "ended_by", "next_session", "absences_in_hour")
    assert pick(found, *names) == [
        (1, at(10), at(12), "session_ended", 13, 1),
        (1, at(30), at(31), "deleted", 32, 2),
        (1, at(100), None, "session_ended", None, 1),
    ]
    assert pick(found[:2], "away_ms") == [(120_000,), (60_000,)]


def test_when_the_controller_changed(tmp_path: Path) -> None:
    def reign(controller_id: int | None, epoch: int, begin: float, end: float | None) -> Row:
        return state(begin, end, "session_ended", controller_id=controller_id) | {
            "controller_epoch": epoch
        }

    rows = {
        "controller": [
            reign(1, 1, 0, 10),
            reign(None, 1, 10, 10.5),
            reign(2, 2, 10.5, 20),
            reign(2, 2, 20, 25),
            reign(2, 3, 25, None),
        ]
    }
    found = ask(tmp_path, rows, "SELECT * FROM controller_changes ORDER BY changed_at")
    names = ("changed_at", "controller_before", "controller_id", "controller_epoch", "nobody_ms")
    assert pick(found, *names, "reigned_ms") == [
        (at(10.5), 1, 2, 2, 30_000, 600_000),
        (at(25), 2, 2, 3, 0, 300_000),
    ]


def partition(begin: float, end: float | None, isr: list[int], **columns: Any) -> Row:
    known: Row = {"topic": "t", "partition": 0, "leader": isr[0], "isr": isr, "czxid": 9}
    return state(begin, end, **(known | columns))


def test_which_isrs_flapped(tmp_path: Path) -> None:
    rows = {
        "partition_state": [
            partition(0, 10, [1, 2, 3]),
            partition(10, 20, [1, 2]),
            partition(20, 70, [1, 2, 3]),
            partition(70, 80, [2, 3]),
            partition(80, None, [3, 2]),
            # Another life of the topic has nothing to do with the one before.
            partition(0, 30, [1], partition=1),
            partition(40, None, [2, 3], partition=1, czxid=10),
        ]
    }
    found = ask(tmp_path, rows, "SELECT * FROM isr_flaps ORDER BY hour_at")
    names = ("partition", "hour_at", "shrinks", "expands", "leader_changes", "fell_out", "last_at")
    assert pick(found, *names) == [
        (0, at(0), 1, 1, 0, [3], at(20)),
        (0, at(60), 1, 0, 2, [1], at(80)),
    ]


HEALTH = ("partition", "is_offline", "is_under_replicated", "is_preferred_leader")


def ask_health(path: Path, *states: Row, **tables: list[Row]) -> list[Row]:
    """Of the topic t, with all replicas on the brokers 1 and 2, which are both there."""
    rows = {
        "topics": [state(0, topic="t", replicas={number: [1, 2] for number in range(6)})],
        "partition_state": list(states),
        "broker_membership": [state(0, broker_id=1), state(0, broker_id=2)],
    }
    return ask(path, rows | tables, "SELECT * FROM partition_health ORDER BY topic, partition")


def test_how_partitions_are_now(tmp_path: Path) -> None:
    found = ask_health(
        tmp_path,
        partition(0, None, [1, 2]),
        partition(0, None, [2, 1], partition=1),
        partition(0, None, [1], partition=2),
        # No leader; one that left; and one that nobody could read.
        partition(0, None, [2], partition=3, leader=-1),
        partition(0, None, [3], partition=4),
        partition(0, None, [1], partition=5, leader=None) | {"isr": None},
        # Past states say nothing of now.
        partition(0, 5, [1], partition=0, leader=-1),
    )
    assert pick(found, *HEALTH) == [
        (0, False, False, True),
        (1, False, False, False),
        (2, False, True, True),
        (3, True, True, False),
        (4, True, True, False),
        (5, None, None, None),
    ]
    assert pick(found, "is_under_deletion", "replicas") == [(False, [1, 2])] * 6


def test_while_a_cluster_migrates_only_minus_one_is_offline(tmp_path: Path) -> None:
    found = ask_health(
        tmp_path,
        partition(0, None, [3, 4]),
        partition(0, None, [3], partition=1, leader=-1),
        controller=[state(0, controller_id=3000, kraft_controller_epoch=1)],
    )
    assert pick(found, *HEALTH[:2]) == [(0, False), (1, True)]


def test_which_partitions_are_being_deleted(tmp_path: Path) -> None:
    def deletion(topic: str, end: float | None) -> Row:
        return state(1, end, "finished", operation="topic_deletion", topic=topic)

    found = ask_health(
        tmp_path,
        partition(0, None, [1, 2]),
        partition(0, None, [1, 2], topic="u"),
        admin_operations=[deletion("t", None), deletion("u", 5)],
    )
    assert pick(found, "topic", "is_under_deletion") == [("t", True), ("u", False)]


def test_how_long_partitions_were_under_replicated(tmp_path: Path) -> None:
    rows = {
        "topics": [
            state(0, 40, topic="t", replicas={0: [1, 2, 3], 1: [1]}),
            state(40, 90, "deleted", topic="t", replicas={0: [1, 2, 3, 4], 1: [1]}),
        ],
        "partition_state": [
            partition(0, 10, [1, 2, 3]),
            partition(10, 12, [1, 2]),
            partition(12, 20, [1]),
            partition(20, 50, [1, 2, 3]),
            partition(50, 60, [1, 2, 3, 4]),
            partition(60, 90, [1, 2], ended_by="deleted"),
            partition(0, 90, [1], partition=1),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM under_replicated_time ORDER BY short_from")
    assert pick(found, "partition", "short_from", "short_to", "short_ms", "missing", "states") == [
        (0, at(10), at(20), 600_000, [2, 3], 2),
        # A reassignment added a replica that had to catch up first.
        (0, at(40), at(50), 600_000, [4], 1),
        (0, at(60), at(90), 1_800_000, [3, 4], 1),
    ]


def test_what_is_under_replicated_now_counts_up_to_now(tmp_path: Path) -> None:
    rows = {
        "topics": [state(0, topic="t", replicas={0: [1, 2]})],
        "partition_state": [partition(0, 10, [1, 2]), partition(10, None, [1])],
    }
    (row,) = ask(tmp_path, rows, "SELECT * FROM under_replicated_time")
    assert (row["short_from"], row["short_to"], row["missing"]) == (at(10), None, [2])
    assert row["short_ms"] > 60_000
