"""The right answers to questions about lag, log ends and rebalances."""

from __future__ import annotations

from collections import Counter

from tests.e2e.answers_of_groups import find_stuck
from tests.e2e.told import Fact, Rows, Told, is_seen_within


def _count_produced(told: Told, topic: str, before: Fact | None = None) -> Counter[str]:
    """Records by partition, up to some fact."""
    counts: Counter[str] = Counter()
    for fact in told.find("produced", topic=topic):
        if before is None or fact["to_ms"] <= before["from_ms"]:
            counts.update(fact["counts"])
    return counts


def check_lag_at(told: Told, rows: Rows) -> None:
    state = find_stuck(told)
    (offsets,) = {
        tuple(fact["offsets"].items())
        for fact in told.find("offsets_are", story="stuck-consumer")
        if fact["to_ms"] <= state["from_ms"]
    }
    committed, ends = dict(offsets), _count_produced(told, state["topic"], state)
    assert {row["topic"] for row in rows} == {state["topic"]}
    assert {str(row["partition"]): row["committed_offset"] for row in rows} == committed
    assert {str(row["partition"]): row["log_end_offset"] for row in rows} == dict(ends)
    assert all(row["lag"] == row["log_end_offset"] - row["committed_offset"] > 0 for row in rows)
    assert {str(row["partition"]): row["owner"] for row in rows} == state["owners"]


def check_lag_now(told: Told, rows: Rows) -> None:
    groups = {fact["group"] for fact in told.find("member_joined")}
    found = {row["group_id"]: row for row in rows if row["coordinator"] == "zookeeper"}
    assert groups <= found.keys()
    # All of them have left; what the rewound and the stuck one missed was read in the end.
    for story in ("quiet-day", "offset-rewind", "stuck-consumer"):
        (group,) = {fact["group"] for fact in told.find("member_joined", story=story)}
        assert (found[group]["total_lag"], found[group]["members"]) == (0, 0), found[group]


def check_busiest_topics(told: Told, rows: Rows) -> None:
    found = {row["topic"]: row for row in rows}
    for fact in told.find("topic_created", story="quiet-day"):
        produced = _count_produced(told, fact["topic"])
        row = found[fact["topic"]]
        assert row["partitions"] == len(fact["replicas"])
        assert row["held"] == produced.total()
        assert 0 <= row["came"] <= row["held"]


def check_rebalances_of_group(told: Told, rows: Rows) -> None:
    (crash,) = told.find("member_left", story="consumer-crash", how="crash")
    (row,) = [
        row
        for row in rows
        if row["trigger_member_id"] == crash["member_id"] and row["trigger"] == "session_ended"
    ]
    assert is_seen_within(row["began_at"], crash)
    assert (row["outcome"], row["left_unowned"]) == ("settled", 0)
    assert row["moved"] > 0
    assert row["unowned_ms"] > 0
    assert rows[0]["trigger"] == "member_joined"


def check_pauses_of_group(told: Told, rows: Rows) -> None:
    """What the stuck one held was let go by it, or by the end of its session, and read at last."""
    state = find_stuck(told)
    stuck = {owner.rpartition("-")[0] for owner in state["owners"].values()}
    mine = [row for row in rows if row["owner_member_id"] in stuck]
    assert {str(row["partition"]) for row in mine} == state["owners"].keys()
    for row in mine:
        assert row["held"] in ("owner_crashed", "unowned", "owner_stuck")
        assert 0 < row["least_ms"] <= row["most_ms"]
        assert row["records_waiting"] > 0
        assert row["next_progress"] is not None


def check_lag_by_day(told: Told, rows: Rows) -> None:
    """A day is rolled up when two more have begun."""
    assert rows == []


def check_wrong_owners(told: Told, rows: Rows) -> None:
    """Every story ends with its groups gone."""
    assert rows == []
