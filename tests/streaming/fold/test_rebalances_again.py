"""Rebalances after a restart at any place, and of large groups."""

from __future__ import annotations

import json
import random
import sys

import pytest

from streaming.fold.cluster_state import ClusterState
from streaming.fold.rebalances.fold import RebalanceFold
from tests.streaming.fold.group_log import CLUSTER, GroupLog, fold, fold_cut
from tests.streaming.fold.lake_rows import recall


def wander(seed: int, length: int) -> GroupLog:
    """A group at the mercy of dice: members, owners, topics, gaps, frames."""
    dice, log = random.Random(seed), GroupLog()
    log.topic("t", 3)
    members: list[str] = []
    owned: dict[int, str] = {}
    while len(log.events) < length:
        log.now_ms += dice.choice((0, 0, 0, 50, 1000, 2400, 2600, 9900, 10_100, 70_000))
        match dice.randrange(12):
            case 0 | 1 if len(members) < 4:
                members.append(f"g_{len(log.events)}")
                subscription = dice.choice((("t", "static"), (".*", "white_list"), ("u", "static")))
                log.join(members[-1], *subscription)
            case 2 if members:
                gone = members.pop(dice.randrange(len(members)))
                held = [p for p, m in owned.items() if m == gone]
                log.leave(gone, *held, owners_first=dice.random() < 0.5)
                owned = {p: m for p, m in owned.items() if m != gone}
            case 3 | 4 | 5 | 6 if members:
                free = [p for p in range(4) if p not in owned]
                for partition in dice.sample(free, dice.randint(0, len(free))):
                    owned[partition] = dice.choice(members)
                    origin = dice.choice(("watch", "watch", "watch", "resync"))
                    log.claim(owned[partition], partition, origin=origin)
            case 7 | 8 if owned:
                for partition in dice.sample(list(owned), dice.randint(1, len(owned))):
                    del owned[partition]
                    log.release(partition)
            case 9:
                log.topic("t", dice.choice((3, 3, 4)), op="set")
            case 10:
                log.topic("u", 1)
            case 11:
                log.gap()
                begin = len(log.events)
                log.topic("t", 3, op="read", is_same=True)
                log.in_sync(dice.choice((None, begin)))
                owned.clear()
            case _:
                log.wait(20_000)
    return log


@pytest.mark.parametrize("seed", range(4))
def test_a_restart_anywhere_changes_nothing(seed: int) -> None:
    log = wander(seed, 60)
    wanted = fold(log)
    for cut in range(len(log.events) + 1):
        assert fold_cut(log, cut, recall) == wanted, f"cut at {cut}"


def test_a_restart_among_generations_changes_nothing() -> None:
    log = GroupLog()
    for generation, members in enumerate(({"a": [0]}, {"a": [0], "b": [1]}, {}, {"b": [0, 1]})):
        log.state(members, generation=generation, state="Stable" if members else "Empty")
    wanted = fold(log)
    assert len(wanted[0]) == 3
    for cut in range(len(log.events) + 1):
        assert fold_cut(log, cut, recall) == wanted, f"cut at {cut}"


def storm(members: int, partitions: int) -> GroupLog:
    """Members join and leave one after the other; each time all that is owned is claimed anew."""
    log = GroupLog()
    log.topic("t", partitions)
    for number in range(members):
        log.join(f"g_{number:03}")
        log.claim(f"g_{number:03}", number % partitions)
        log.release(number % partitions)
    for number in range(members):
        log.leave(f"g_{number:03}")
    return log


def count_calls(log: GroupLog) -> int:
    """How many functions of Python the fold calls to follow it."""
    cluster_state, fold = ClusterState(), RebalanceFold(CLUSTER)
    calls = 0
    followed = [
        (event, cluster_state.apply(event, log.context(event)), log.context(event))
        for event in log.events
    ]

    def note(frame: object, what: str, _: object) -> None:
        nonlocal calls
        calls += what == "call"

    sys.setprofile(note)
    try:
        for event, changes, context in followed:
            fold.apply(event, changes, cluster_state, context)
    finally:
        sys.setprofile(None)
    return calls


def test_a_storm_is_one_rebalance_and_no_event_costs_the_whole_group() -> None:
    log = storm(200, 200)
    ended, open_rows = fold(log)
    assert open_rows == []
    assert [row["outcome"] for row in ended] == ["settled"]
    assert [row["triggers"] for row in ended] == [["member_joined", "session_ended"]]
    assert (ended[0]["members_before"], ended[0]["conflicts"]) == (0, 200)
    calls = count_calls(log)
    assert calls < 100 * len(log.events)
    # Each partition more is looked at once, by the first member, and not with each event.
    assert count_calls(storm(200, 10_200)) - calls < 5 * 10_000


def test_hostile_values_stop_nothing() -> None:
    log = GroupLog()
    subscription = {"(a+)+$": 1, "[": 2}
    data = json.dumps({"version": 1, "pattern": "white_list", "subscription": subscription})
    log.topic("a" * 249, 1)
    log.join("g_a", data=data)
    log.put("create", "owner", "/consumers/g/owners//0", "x")
    log.put("create", "owner", "/consumers/g/owners/t/00", "g_a-0")
    log.say("create", kind="owner", path="/consumers/g/owners/t/1", data_b64="/w==")
    log.say("delete", kind="owner", path="/consumers/g/owners/t/1", zxid=2**62)
    log.wait(60_000)
    ended, open_rows = fold(log)
    assert (len(ended), open_rows) == (1, [])
