from __future__ import annotations

import pytest

from streaming.fold.changes import MemberState
from streaming.fold.subscriptions import Subscribed

TOPICS = ("orders", "bills", "__consumer_offsets")


def member(pattern: str | None, *names: str) -> MemberState:
    return MemberState("m", pattern, dict.fromkeys(names, 1))


@pytest.mark.parametrize(
    ("members", "read"),
    [
        ([], set()),
        ([member("static", "orders", "audit")], {"orders"}),
        ([member("static", "orders"), member("static", "bills")], {"orders", "bills"}),
        ([member("white_list", "ord.*|x")], {"orders"}),
        ([member("black_list", "ord.*")], {"bills"}),
        ([member("white_list", ".*")], {"orders", "bills"}),
        ([member("static", "__consumer_offsets")], {"__consumer_offsets"}),
    ],
)
def test_what_some_member_takes_in_is_read(members: list[MemberState], read: set[str]) -> None:
    assert Subscribed.read(members).find_read(TOPICS) == read


@pytest.mark.parametrize("unknown", [MemberState("n"), member("white_list", r"(o)\1")])
def test_one_member_of_which_nobody_can_say_may_read_all(unknown: MemberState) -> None:
    members = [member("static", "orders"), unknown]
    assert Subscribed.read(members).find_read(TOPICS) == {*TOPICS}
