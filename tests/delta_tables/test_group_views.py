"""What the views over groups say: owners, conformance, unowned time, rebalances, coordinators."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from lab.zookeeper_consumer.assignors import ASSIGNORS
from tests.delta_tables.view_lake import Row, ask, at, lag_row, pause, pick, span, state

ZK = {"coordinator": "zookeeper", "group_id": "g"}


def member(member_id: str, begin: float = 0, end: float | None = None, **columns: Any) -> Row:
    known = {**ZK, "member_id": member_id, "pattern": "static", "subscription": {"t": 1}}
    return state(begin, end, "session_ended", **(known | columns))


def owner(partition: int, thread: str, begin: float = 1, end: float | None = None) -> Row:
    row = state(begin, end, "deleted", **ZK, topic="t", partition=partition, owner=thread)
    return row | {"owner_member_id": thread.rpartition("-")[0]}


def topic(partitions: int, name: str = "t") -> Row:
    return state(0, topic=name, replicas={p: [1] for p in range(partitions)})


def test_who_owns_what_now(tmp_path: Path) -> None:
    rows = {
        "topics": [topic(3)],
        "consumer_membership": [member("g_a", host="a")],
        "ownership_history": [owner(0, "g_a-0"), owner(1, "g_z-0"), owner(2, "g_a-0", 1, 2)],
        "offset_lag": [lag_row(0, lag=5, owner="g_a-0", committed_offset=10)],
    }
    found = ask(tmp_path, rows, "SELECT * FROM ownership_now ORDER BY partition")
    assert pick(found, "partition", "owner", "host", "is_member", "since", "lag", "status") == [
        (0, "g_a-0", "a", True, at(1), 5, "OK"),
        (1, "g_z-0", None, False, at(1), None, None),
        (2, None, None, None, None, None, None),
    ]


def test_partitions_that_nobody_owns(tmp_path: Path) -> None:
    """Of topics that a member names, or of which the group owns some; else conformance tells."""
    wild: Row = {"group_id": "wild", "pattern": "white_list", "subscription": {"t.*": 1}}
    rows = {
        "topics": [topic(2), topic(1, "tt")],
        "consumer_membership": [
            member("g_a"),
            member("w_a", **wild),
            member("p_a", group_id="plain", pattern=None),
        ],
        "ownership_history": [owner(0, "w_a-0") | {"group_id": "wild"}],
    }
    sql = "SELECT * FROM {} WHERE owner IS NULL ORDER BY group_id, topic, partition"
    names = ("group_id", "topic", "partition")
    named = [("g", "t", 0), ("g", "t", 1), ("plain", "t", 0), ("plain", "t", 1), ("wild", "t", 1)]
    assert pick(ask(tmp_path, rows, sql.format("ownership_now")), *names) == named
    found = ask(tmp_path / "again", rows, sql.format("conformance"))
    assert pick(found, *names) == [*named, ("wild", "tt", 0)]
    assert {row["finding"] for row in found} == {"unowned"}


@pytest.mark.parametrize(("partitions", "streams"), [(7, (2, 1, 11)), (2, (1, 1, 1)), (12, (3, 3))])
def test_expected_owners_are_those_of_the_real_formula(
    tmp_path: Path, partitions: int, streams: tuple[int, ...]
) -> None:
    members = {f"g_{name}": count for name, count in zip("abc", streams, strict=False)}
    threads = sorted(f"{name}-{i}" for name, count in members.items() for i in range(count))
    truth = ASSIGNORS["range"]({"t": threads}, {"t": range(partitions)})
    rows = {
        "topics": [topic(partitions)],
        "consumer_membership": [
            member(name, subscription={"t": count}) for name, count in members.items()
        ],
        "ownership_history": [owner(p, thread) for (_, p), thread in truth.items()],
    }
    found = ask(tmp_path, rows, "SELECT * FROM conformance ORDER BY partition")
    assert pick(found, "finding", "partition", "expected_owner") == [
        ("ok", p, truth["t", p]) for p in range(partitions)
    ]
    floor = ASSIGNORS["floor"]({"t": threads}, {"t": range(partitions)})
    assert [r["is_lost_by_floor"] for r in found] == [
        ("t", p) not in floor for p in range(partitions)
    ]


def test_conformance_points_at_zombies_and_wrong_owners(tmp_path: Path) -> None:
    rows = {
        "topics": [topic(5), topic(1, "old")],
        "consumer_membership": [member("g_a"), member("g_b"), member("g_dead", 0, 1)],
        "ownership_history": [
            owner(0, "g_a-0"),
            owner(1, "g_b-0"),
            owner(2, "g_dead-0"),
            owner(3, "g_b-0"),
            owner(0, "g_a-0") | {"topic": "old"},
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM conformance ORDER BY topic, partition")
    assert pick(
        found, "topic", "partition", "finding", "owner_member_id", "expected_member_id"
    ) == [
        ("old", 0, "not_subscribed", "g_a", None),
        ("t", 0, "ok", "g_a", "g_a"),
        ("t", 1, "wrong_owner", "g_b", "g_a"),
        ("t", 2, "zombie", "g_dead", "g_a"),
        ("t", 3, "ok", "g_b", "g_b"),
        ("t", 4, "unowned", None, "g_b"),
    ]


def test_wildcards_match_as_in_java_or_are_not_judged(tmp_path: Path) -> None:
    def group(name: str, pattern: str, regex: str) -> Row:
        return member("m", group_id=name, pattern=pattern, subscription={regex: 1})

    names = ["bills", "orders", "orders.eu", "__consumer_offsets"]
    rows = {
        "topics": [topic(1, name) for name in names],
        "consumer_membership": [
            group("white", "white_list", r"or.*\.eu|bil+s"),
            group("dot", "white_list", "(orders|bills)"),
            group("black", "black_list", "orders.*"),
            group("clever", "white_list", "(?!orders).*"),
            group("broken", "white_list", "*("),
            group("open", "white_list", "(orders"),
            group("twice", "white_list", "or(d|x)+ers(.eu)?"),
            group("huge", "white_list", "a|" * 600 + "a"),
            member("m", group_id="greedy", subscription={"orders": 2**31 - 1}),
            member("m", group_id="silent", subscription=None),
            member("m", group_id="none", subscription={"orders": -1}),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM conformance ORDER BY group_id, topic")
    assert pick(found, "group_id", "topic", "finding") == [
        ("black", "bills", "unowned"),
        ("dot", "bills", "unowned"),
        ("dot", "orders", "unowned"),
        ("greedy", "orders", "unknown"),
        ("twice", "orders", "unowned"),
        ("twice", "orders.eu", "unowned"),
        ("white", "bills", "unowned"),
        ("white", "orders.eu", "unowned"),
    ]


def test_times_without_an_owner(tmp_path: Path) -> None:
    rows = {
        "consumer_membership": [member("g_a", 0, 5), member("g_b", 3, 6), member("g_c", 8)],
        "ownership_history": [
            owner(0, "g_a-0", 1, 5),
            owner(0, "g_b-0", 5.5, 6),
            owner(0, "g_c-0", 9),
            owner(1, "g_a-0", 1, 4),
            owner(1, "g_b-0", 4, 4.5),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM unowned_time ORDER BY partition, unowned_from")
    names = ("partition", "last_owner", "unowned_from", "unowned_to", "next_owner")
    assert pick(found, *names) == [
        (0, "g_a-0", at(5), at(5.5), "g_b-0"),
        (0, "g_b-0", at(6), at(9), "g_c-0"),
        (1, "g_b-0", at(4.5), None, None),
    ]
    # From 06:00 to 08:00 there was no member.
    assert pick(found[:2], "unowned_ms", "nobody_ms") == [(30_000, 0), (180_000, 120_000)]
    assert found[2]["unowned_ms"] > 60_000
    assert found[2]["nobody_ms"] == 120_000


def rebalance(begin: float, end: float | None, trigger: str, **columns: Any) -> Row:
    known = {"outcome": "ongoing" if end is None else "settled", "trigger": trigger}
    return state(begin, end, "settled", **(ZK | known | columns))


def test_how_often_groups_rebalanced(tmp_path: Path) -> None:
    sums = {"attempts": 2, "conflicts": 1, "moved": 3, "duration_ms": 1000, "unowned_ms": 70}
    rows = {
        "rebalances": [
            rebalance(1, 2, "member_left", trigger_member_id="g_a", max_unowned_ms=50, **sums),
            rebalance(3, 4, "member_joined", trigger_member_id="g_a", max_unowned_ms=20, **sums),
            rebalance(61, 62, "member_joined") | {"outcome": "failed"},
            rebalance(62, None, "unknown"),
        ]
    }
    found = ask(tmp_path, rows, "SELECT * FROM rebalance_frequency ORDER BY hour_at")
    names = ("hour_at", "rebalances", "failed", "triggers", "moved", "unowned_ms", "max_unowned_ms")
    assert pick(found, *names) == [
        (at(0), 2, 0, ["member_joined", "member_left"], 6, 140, 50),
        (at(60), 2, 1, ["member_joined", "unknown"], None, None, None),
    ]


def test_what_a_rebalance_cost(tmp_path: Path) -> None:
    """Two crashes, a clean leave and a join, each with the partitions that had to wait."""
    rows = {
        "rebalances": [
            rebalance(10, 10.1, "session_ended"),
            rebalance(20, 20.1, "member_left"),
            rebalance(30, 30.1, "member_joined"),
        ],
        "consumption_pauses": [
            # The owner's last commit was 27 s before its session ended; 60 records came in 30 s.
            pause(
                *(9.55, 10.05),
                span("owner_crashed", 9.55, 10, 600),
                span("unowned", 10, 10.0015, 600),
                records=60,
            ),
            pause(9.9, 10.1, span("unowned", 10, 10.002, 601), partition=1, records=24),
            # Of another rebalance, another group; and one that no rebalance is behind.
            pause(19, 21, span("unowned", 20, 20.0002, 1200), records=1000),
            pause(9.9, 10.1, span("unowned", 10, 10.1, 601), group_id="other", records=5),
            pause(9, 11, span("owner_stuck", 9, 11), partition=2, records=500),
            pause(9, 11, span("leader_away", 9.5, 10.5, 601), partition=3, records=500),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM rebalance_cost ORDER BY began_at")
    names = ("least_ms", "max_least_ms", "crashed_ms", "max_most_ms", "records")
    assert pick(found, "trigger", "paused_partitions", *names) == [
        ("session_ended", 2, 27_210, 27_090, 27_000, 30_000, 54),
        ("member_left", 1, 12, 12, 0, 120_000, 0),
        ("member_joined", None, None, None, None, None, None),
    ]


def test_a_cost_is_told_when_it_is_known_and_not_before(tmp_path: Path) -> None:
    rows = {
        "rebalances": [rebalance(10, 10.1, "session_ended")],
        "consumption_pauses": [
            pause(9.55, 10.05, span("owner_crashed", 9.55, 10, 600), records=60),
            pause(9.9, None, partition=1, held="unowned", event_seq=601),
        ],
    }
    (found,) = ask(tmp_path, rows, "SELECT * FROM rebalance_cost")
    assert (found["paused_partitions"], found["least_ms"], found["records"]) == (None, None, None)


def test_what_held_when(tmp_path: Path) -> None:
    rows = {
        "consumption_pauses": [
            pause(
                *(10, 14),
                span("owner_crashed", 10, 11, 600),
                span("leader_away", 11, 11.5, 660, owner_member_id=None, broker_id=3),
                span("owner_stuck", 11.5, 13.5),
                records=480,
                usual_ms=5000,
            ),
            pause(1, 2, reason="gap", records=7),
        ]
    }
    found = ask(tmp_path, rows, "SELECT * FROM pause_spans ORDER BY from_at")
    names = ("held", "from_at", "to_at", "held_ms", "least_ms", "records", "broker_id", "event_seq")
    assert pick(found, *names) == [
        ("owner_crashed", at(10), at(11), 60_000, 60_000, 120, None, 600),
        ("leader_away", at(11), at(11.5), 30_000, 30_000, 60, 3, 660),
        ("owner_stuck", at(11.5), at(13.5), 120_000, 115_000, 240, None, None),
    ]


def test_what_the_absence_of_a_broker_cost(tmp_path: Path) -> None:
    away: Row = {"owner_member_id": None, "broker_id": 1}
    rows = {
        "broker_membership": [
            state(0, 10, "session_ended", broker_id=1),
            state(12, 20, "session_ended", broker_id=1),
            state(25, broker_id=1),
            state(0, broker_id=2),
        ],
        "consumption_pauses": [
            pause(9, 13, span("leader_away", 10.1, 12.1, 610, **away), records=400),
            pause(9, 13, span("leader_away", 10.1, 12.1, 610, **away), group_id="h", records=4),
            pause(9, 13, span("leader_away", 10, 12, 600, **away | {"broker_id": 2}), partition=1),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM broker_absence_cost ORDER BY away_from")
    names = ("paused_groups", "paused_partitions", "least_ms", "max_least_ms", "records")
    assert pick(found, "broker_id", "away_from", "away_to", *names) == [
        (1, at(10), at(12), 2, 1, 240_000, 120_000, 202),
        (1, at(20), at(25), None, None, None, None, None),
    ]


def offset(group: str, coordinator: str, offset: int, begin: float, partition: int = 0) -> Row:
    place: Row = {
        "group_id": group,
        "coordinator": coordinator,
        "topic": "t",
        "partition": partition,
    }
    return state(begin, **place, committed_offset=offset)


def test_who_is_still_on_zookeeper(tmp_path: Path) -> None:
    rows = {
        "consumer_offsets": [
            offset("old", "zookeeper", 5, 0),
            offset("new", "kafka", 5, 0),
            offset("dual", "zookeeper", 90, 0),
            offset("dual", "kafka", 100, 0.1),
            offset("dual", "zookeeper", 7, 1, partition=1),
            offset("dual", "kafka", 7, 1, partition=1),
            offset("gone", "zookeeper", 7, 1),
            offset("gone", "kafka", 900, 60),
            offset("back", "zookeeper", 7, 60),
            offset("back", "kafka", 900, 1),
        ],
        "consumer_membership": [
            member("dual_a", group_id="dual"),
            member("fresh_a", group_id="fresh"),
            member("k", group_id="gone", coordinator="kafka"),
        ],
    }
    found = ask(tmp_path, rows, "SELECT * FROM group_coordinators ORDER BY group_id")
    assert pick(found, "group_id", "stage", "zookeeper_members", "kafka_members") == [
        ("back", "moved_back", 0, 0),
        ("dual", "dual_commit", 1, 0),
        ("fresh", "zookeeper", 1, 0),
        ("gone", "moved", 0, 1),
        ("new", "kafka", 0, 0),
        ("old", "zookeeper", 0, 0),
    ]
    (dual,) = (row for row in found if row["group_id"] == "dual")
    names = ("diverging_partitions", "min_divergence", "max_divergence", "zookeeper_partitions")
    assert pick([dual], *names) == [(1, 0, 10, 2)]
    assert (dual["zookeeper_commit_at"], dual["kafka_commit_at"]) == (at(1), at(1))


def test_groups_of_every_size_conform(tmp_path: Path) -> None:
    """Many sizes at once: (partitions, threads) from 1 to 9 each, one group per pair."""
    sizes = list(itertools.product(range(1, 10), range(1, 10)))
    rows: dict[str, list[Row]] = {"topics": [topic(n, f"t{n}") for n in range(1, 10)]}
    rows |= {"consumer_membership": [], "ownership_history": []}
    for partitions, count in sizes:
        group, name = f"g{partitions}x{count}", f"t{partitions}"
        rows["consumer_membership"].append(member("m", group_id=group, subscription={name: count}))
        threads = sorted(f"m-{i}" for i in range(count))
        truth = ASSIGNORS["range"]({name: threads}, {name: range(partitions)})
        for (_, p), thread in truth.items():
            rows["ownership_history"].append(owner(p, thread) | {"group_id": group, "topic": name})
    sql = "SELECT finding, count(*) AS n FROM conformance GROUP BY finding"
    assert ask(tmp_path, rows, sql) == [{"finding": "ok", "n": 9 * 45}]
