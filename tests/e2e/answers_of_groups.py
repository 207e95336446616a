"""The right answers to questions about consumer groups: members, owners, offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.e2e import regulars
from tests.e2e.told import Fact, Rows, Told, is_seen_within, is_within, ms, only


def find_owners(told: Told, story: str) -> Fact:
    """The first state of a story's group, when it had settled."""
    return told.find("owners_are", story=story)[0]


def find_stuck(told: Told) -> Fact:
    return told.find("owners_are", story="stuck-consumer")[-1]


def find_offsets(told: Told) -> Fact:
    """In the middle of the quiet day."""
    return told.find("offsets_are", story="quiet-day")[1]


def check_owner_and_leader_at(told: Told, rows: Rows) -> None:
    owners = find_owners(told, "quiet-day")
    (leaders,) = told.find("leaders_are", story="quiet-day")
    row, led = only(rows), leaders["partitions"]["3"]
    assert (row["topic"], row["partition"], row["group_id"]) == (
        owners["topic"],
        3,
        owners["group"],
    )
    assert (row["owner"], row["leader"], row["isr"]) == (
        owners["owners"]["3"],
        led["leader"],
        led["isr"],
    )


def _list_owned(state: Fact, member_id: str) -> list[str]:
    """The partitions of one member, by name; the thread id is the member's and its stream."""
    owned = (p for p, owner in state["owners"].items() if owner.rpartition("-")[0] == member_id)
    return sorted(f"{state['topic']}-{partition}" for partition in owned)


def check_group_at(told: Told, rows: Rows) -> None:
    state = find_owners(told, "consumer-crash")
    assert [row["member_id"] for row in rows] == state["members"]
    for row in rows:
        assert row["partitions"] == _list_owned(state, row["member_id"])
        assert row["owns"] == len(row["partitions"])


def check_member_lives(told: Told, rows: Rows) -> None:
    joins = told.find("member_joined", story="flapping-member")
    assert [row["member_id"] for row in rows] == [fact["member_id"] for fact in joins]
    for row, join in zip(rows, joins, strict=True):
        left = told.find_after(join, "member_left", member_id=join["member_id"])
        assert is_within(row["came_at"], join)
        assert is_seen_within(row["left_at"], left)
        assert row["ended_by"] == "session_ended"


def check_flapping_members(told: Told, rows: Rows) -> None:
    joins = Counter(fact["member_id"] for fact in told.find("member_joined"))
    returns = {member_id: count - 1 for member_id, count in joins.items() if count > 1}
    assert {row["member_id"]: row["returns"] for row in rows} == returns
    assert [row["returns"] for row in rows] == sorted(returns.values(), reverse=True)


def check_session_ends(told: Told, rows: Rows) -> None:
    state = find_owners(told, "consumer-crash")
    (crash,) = told.find("member_left", how="crash")
    lost = only([row for row in rows if f"member {crash['member_id']}" in row["went"]])
    assert is_seen_within(lost["ended_at"], crash)
    owned = _list_owned(state, crash["member_id"])
    assert lost["went"] == sorted([f"member {crash['member_id']}", *owned])
    (kill,) = told.find("broker_killed")
    died = only([row for row in rows if is_seen_within(row["ended_at"], kill)])
    assert died["went"] == [f"broker {kill['broker_id']}", "controller"]


def check_group_churn(told: Told, rows: Rows) -> None:
    found = {row["group_id"]: row for row in rows}
    for story in ("reassignment", "offset-rewind"):
        state = told.find("member_joined", story=story)[0]
        # One member and no other: it can only take the same again.
        assert found[state["group"]]["moved"] == 0
        assert found[state["group"]]["taken_again"] > 0
    storm = find_owners(told, "rebalance-storm")
    row = found[storm["group"]]
    assert row["partitions"] == len(storm["owners"])
    assert row["moved"] > 0
    assert row["tenures"] >= row["partitions"] + row["moved"] + row["taken_again"]


def _list_empty_times(told: Told) -> Iterator[tuple[Fact, Fact]]:
    """When the only member of a group left, and one came back."""
    for story in ("offset-rewind", "stuck-consumer"):
        for left in told.find("member_left", story=story)[:-1]:
            yield left, told.find_after(left, "member_joined", story=story)


def check_unowned_partitions(told: Told, rows: Rows) -> None:
    lengths = [row["unowned_for"] for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    found = 0
    for left, joined in _list_empty_times(told):
        holes = [
            row
            for row in rows
            if row["group_id"] == left["group"] and is_seen_within(row["unowned_from"], left)
        ]
        found += len(holes)
        for hole in holes:
            assert hole["last_owner"] in (f"{left['member_id']}-0", None)
            assert is_within(hole["unowned_to"], joined)
            assert hole["ended_by"] == "session_ended"
    assert found > 0


def check_committed_offsets_at(told: Told, rows: Rows) -> None:
    state = find_offsets(told)
    assert {str(row["partition"]): row["committed_offset"] for row in rows} == state["offsets"]
    assert {row["topic"] for row in rows} == {state["topic"]}
    assert all(ms(row["committed_at"]) <= state["from_ms"] for row in rows)


def check_offset_rewinds(told: Told, rows: Rows) -> None:
    (rewound,) = told.find("offsets_rewound")
    before = told.find("offsets_are", story="offset-rewind")[0]["offsets"]
    found = [row for row in rows if row["group_id"] == rewound["group"]]
    assert all(is_within(row["rewound_at"], rewound) for row in found)
    assert {str(row["partition"]): row["offset_after"] for row in found} == rewound["offsets"]
    assert {str(row["partition"]): row["offset_before"] for row in found} == before


def check_stuck_owners_at(told: Told, rows: Rows) -> None:
    owners, offsets = find_stuck(told), told.find("offsets_are", story="stuck-consumer")[0]
    assert {str(row["partition"]): row["owner"] for row in rows} == owners["owners"]
    assert {str(row["partition"]): row["committed_offset"] for row in rows} == offsets["offsets"]
    assert all(row["never_committed_by_this_owner"] for row in rows)


def check_groups_on_zookeeper(told: Told, rows: Rows) -> None:
    found = {row["group_id"]: row for row in rows}
    for state in told.find("offsets_are"):
        row = found[state["group"]]
        assert (row["topics"], row["partitions"]) == (1, len(state["offsets"]))
        assert row["members_now"] == 0
    in_stories = {fact["group"] for fact in told.find("member_joined")}
    assert found.keys() - {regulars.OLD, regulars.SPARSE} <= in_stories
