"""When a rebalance is over: the owners are those of Kafka's formula, and the next trigger begins
another; how long it was quiet matters only where nobody can say what the formula gives."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from streaming.fold.rebalances.assignment import assign_range, name_threads
from streaming.fold.rebalances.fold import RebalanceFold
from tests.reference.fold.presence import follow
from tests.reference.fold.rebalances import fold_rebalances
from tests.streaming.fold.group_log import CLUSTER, GroupLog, Row, fold, fold_cut
from tests.streaming.fold.group_log import follow as follow_log
from tests.streaming.fold.lake_rows import recall
from tests.streaming.fold.old_consumers import OldConsumers
from tests.streaming.fold.settled_group import pair, pick, settle

_MEMBERS = ("trigger", "members_before", "members_after")


def tell(log: GroupLog, *names: str) -> list[list[object]]:
    """Of each rebalance after the first, which only sets the scene."""
    ended, open_rows = fold(settle(log))
    assert open_rows == []
    return [pick(row, *(names or _MEMBERS)) for row in ended[1:]]


def two_members() -> GroupLog:
    """g_a has t-0 and t-1, g_b the other two; settled, in one rebalance."""
    log = GroupLog()
    log.topic("t", 4)
    log.join("g_a")
    log.join("g_b")
    log.claim("g_a", 0, 1)
    log.claim("g_b", 2, 3)
    log.wait(60_000)
    return log


@pytest.mark.parametrize(
    ("partitions", "threads", "sizes"),
    [
        (4, 2, [2, 2]),
        (5, 2, [3, 2]),
        (5, 4, [2, 1, 1, 1]),
        (10, 4, [3, 3, 2, 2]),
        (2, 3, [1, 1]),
        (0, 2, []),
        (3, 0, []),
    ],
)
def test_kafkas_formula(partitions: int, threads: int, sizes: list[int]) -> None:
    """The table of facts: what floors and ceilings get wrong."""
    names = [f"c-{number}" for number in range(threads)]
    takers = [taker for taker, size in zip(names, sizes, strict=False) for _ in range(size)]
    assert list(assign_range(range(partitions), names)) == list(enumerate(takers))


def test_threads_are_sorted_as_strings() -> None:
    assert name_threads({"c": 11, "b": 1})[:4] == ["b-0", "c-0", "c-1", "c-10"]


def test_who_joins_after_all_was_owned_again_begins_another() -> None:
    """As a real 1.1.1 group did: one left at 05.279, all owned at 05.328, two joined at 07.4."""
    log = two_members()
    log.leave("g_b", 2, 3)
    log.release(0, 1)
    log.claim("g_a", 0, 1, 2, 3)
    left_ms = log.now_ms
    log.join("g_c", after_ms=2_072)
    log.join("g_d", after_ms=40)
    log.release(0, 1, 2, 3)
    log.claim("g_a", 0, 1)
    log.claim("g_c", 2)
    log.claim("g_d", 3)
    assert tell(log) == [["session_ended", 2, 1], ["member_joined", 1, 3]]
    ends = [row["valid_to_at"] for row in fold(log)[0]]
    assert ends[1] == left_ms


def test_a_trigger_in_the_next_millisecond_begins_another() -> None:
    log = pair()
    for name, before in (("g_b", 0), ("g_c", 1)):
        log.join(name, after_ms=1)
        log.release(0, 1, 2, 3)
        shares = ([0, 1], [2, 3], []) if not before else ([0, 1], [2], [3])
        for member, share in zip(("g_a", "g_b", "g_c"), shares, strict=True):
            log.claim(member, *share)
    log.topic("t", 5, op="set", after_ms=1)
    assert tell(log, *_MEMBERS, "outcome") == [
        ["member_joined", 1, 2, "settled"],
        ["member_joined", 2, 3, "settled"],
        ["partitions_added", 3, 3, "failed"],
    ]


def test_one_trigger_more_before_the_formula_holds_belongs_to_it() -> None:
    log = pair()
    log.join("g_b")
    log.release(0, 1, 2, 3)
    log.claim("g_a", 0, 1)
    log.claim("g_b", 2)
    log.join("g_c")
    log.claim("g_b", 3)
    log.release(2, 3)
    log.claim("g_b", 2)
    log.claim("g_c", 3)
    assert tell(log) == [["member_joined", 1, 3]]


def test_owned_by_members_is_not_enough() -> None:
    """All is owned, but g_b has nothing: g_a has not seen it yet, or they do not use the range."""
    log = pair()
    log.join("g_b")
    log.release(0, 1, 2, 3)
    log.claim("g_a", 0, 1, 2, 3)
    log.join("g_c")
    assert tell(log) == [["member_joined", 1, 3]]


def test_a_trigger_that_moves_nothing_is_over_when_all_is_claimed_again() -> None:
    """g_b and g_c get nothing; the group still lets go of everything, and claims it."""
    log = pair(1)
    log.join("g_b")
    log.join("g_c", after_ms=5)
    log.release(0)
    log.claim("g_a", 0)
    log.leave("g_c")
    log.release(0)
    log.claim("g_a", 0)
    assert tell(log, *_MEMBERS, "reacquired") == [
        ["member_joined", 1, 3, 1],
        ["session_ended", 3, 2, 1],
    ]


def test_nobody_reacts_where_nothing_moves() -> None:
    """Quiet time ends it, at its trigger."""
    log = pair(1)
    log.join("g_b")
    log.join("g_c", after_ms=3_000)
    assert tell(log, *_MEMBERS, "attempts") == [
        ["member_joined", 1, 2, 0],
        ["member_joined", 2, 3, 0],
    ]


def test_a_round_more_without_a_trigger_belongs_to_it() -> None:
    """Watches that fire during a rebalance make one more of it: it is the same one."""
    log = pair()
    log.join("g_b")
    for _ in range(2):
        log.release(0, 1, 2, 3)
        log.claim("g_a", 0, 1)
        log.claim("g_b", 2, 3)
    assert tell(log, "trigger", "attempts", "conflicts") == [["member_joined", 2, 0]]


@pytest.mark.parametrize(
    "wish",
    [
        None,
        {"version": 1, "pattern": "white_list", "subscription": {r"(t)\1?": 1}},
        {"version": 1, "pattern": "static", "subscription": {"t": 1001}},
    ],
)
def test_quiet_time_decides_where_nobody_can_say(wish: object) -> None:
    log = pair(1)
    log.join("g_b", data="?" if wish is None else json.dumps(wish))
    log.release(0)
    log.claim("g_a", 0)
    log.join("g_c")
    log.release(0)
    log.claim("g_a", 0)
    assert tell(log) == [["member_joined", 1, 3]]


def test_a_claim_that_nobody_could_read_does_not_join_two() -> None:
    """It is gone a millisecond later, because the next member has come."""
    log = pair(2)
    log.join("g_b")
    log.release(0, 1)
    log.claim("g_a", 0)
    path = "/consumers/g/owners/t/1"
    log.put("create", "owner", path, None, fidelity="superseded", session=None)
    log.join("g_c")
    log.release(0, 1)
    log.claim("g_a", 0)
    log.claim("g_b", 1)
    assert tell(log) == [["member_joined", 1, 2], ["member_joined", 2, 3]]
    assert sort_rows(fold(log)[0]) == sort_rows(fold_rebalances(follow(log.events, set())))


def test_a_gap_joins_what_nobody_saw_apart() -> None:
    log = pair(1)
    log.join("g_b")
    log.release(0)
    log.claim("g_a", 0)
    log.gap()
    log.join("g_c", op="create", origin="resync")
    log.in_sync()
    assert tell(log) == [["member_joined", 1, 3]]


def test_a_row_that_an_older_version_left_open_goes_on_with_the_word_of_now() -> None:
    log = two_members()
    log.leave("g_b")
    _, open_rows = fold(log)
    old = {"trigger": "session_expired", "triggers": ["session_expired"]}
    cluster_state, _ = follow_log(log)
    rebalances = RebalanceFold(CLUSTER, cluster_state, [open_rows[0] | old], seq=0)
    log.release(2, closes=True)
    event, context = log.events[-1], log.context(log.events[-1])
    rebalances.apply(event, cluster_state.apply(event, context), cluster_state, context)
    row = rebalances.take(idle=True)["rebalances"].open_rows[0]
    assert pick(row, "trigger", "triggers") == ["session_ended", ["session_ended"]]


def sort_rows(rows: list[Row]) -> list[Row]:
    unseen = ("fold_state", "closed_on")
    plain = [{k: v for k, v in row.items() if k not in unseen} for row in rows]
    return sorted(plain, key=lambda row: row["valid_from_seq"])


@pytest.mark.parametrize("seed", range(30))
def test_a_storm_of_old_consumers_is_that_of_the_reference(seed: int) -> None:
    log = OldConsumers(seed).run(150)
    ended, open_rows = fold(log, takes_each=seed % 2 == 1)
    moments = follow(log.events, {seq for _, seq in log.closes})
    wanted = fold_rebalances(moments)
    assert sort_rows(ended + open_rows) == sort_rows(wanted)
    for cut in range(0, len(log.events), 7):
        assert fold_cut(log, cut, recall) == (ended, open_rows), f"cut at {cut}"


def test_storms_have_rebalances_that_follow_each_other_at_once() -> None:
    followed = 0
    for seed in range(30):
        rows, _ = fold(OldConsumers(seed).run(150))
        pairs = pairwise(rows)
        followed += sum(b["valid_from_at"] - a["valid_to_at"] < 2_000 for a, b in pairs)
    assert followed > 100


def test_what_an_event_decides_is_told_before_a_gap_that_follows() -> None:
    """Nobody knows any more what the member reads: nothing is left that it should own."""
    log = GroupLog()
    log.topic("t", 1)
    log.join("g_a")
    log.wait(4_000)
    log.put("set", "consumer", "/consumers/g/ids/g_a", "a:b", session=log.sessions["g_a"])
    log.gap()
    for takes_each in (False, True):
        ended, still_open = fold(log, takes_each=takes_each)
        assert [row["outcome"] for row in ended] == ["settled"]
        assert still_open == []
    (row,) = fold_rebalances(follow(log.events, set()))
    assert (row["outcome"], row["valid_to_seq"]) == ("settled", ended[0]["valid_to_seq"])
