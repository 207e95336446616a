from __future__ import annotations

import pytest

from lab.zookeeper_consumer.assignors import ASSIGNORS
from lab.zookeeper_consumer.subscription import (
    MAX_THREADS,
    build_subscription,
    list_threads,
    match_topics,
    trim_regex,
)
from zklake.errors import LabError
from zklake.events.payloads.consumer import Consumer

TOPICS = ["__consumer_offsets", "bills", "orders", "orders-eu", "tmp.1"]


@pytest.mark.parametrize(
    ("raw", "regex"),
    [
        ("ord.*,bil.*", "ord.*|bil.*"),
        ("  'ord.*' ", "ord.*"),
        ('"ord.* , bil.*"', "ord.*|bil.*"),
        (r"a\.b", r"a\.b"),
        ("it's", "it's"),
    ],
)
def test_a_regex_is_trimmed_as_the_original_did(raw: str, regex: str) -> None:
    assert trim_regex(raw) == regex


def test_a_broken_regex_is_refused_with_its_reason() -> None:
    with pytest.raises(LabError, match="is not a regex of topics"):
        trim_regex("ord(")


def test_a_white_list_is_a_full_match_without_internal_topics() -> None:
    assert match_topics(build_subscription(whitelist="orders", streams=2), TOPICS) == {"orders": 2}
    everything = match_topics(build_subscription(whitelist=".*"), TOPICS)
    assert list(everything) == ["bills", "orders", "orders-eu", "tmp.1"]


def test_a_black_list_is_the_rest() -> None:
    member = build_subscription(blacklist=r"tmp\..*,bills", streams=3)
    assert match_topics(member, TOPICS) == {"orders": 3, "orders-eu": 3}


def test_a_static_member_keeps_topics_that_do_not_exist_yet() -> None:
    assert match_topics(build_subscription(["later"], streams=2), TOPICS) == {"later": 2}


@pytest.mark.parametrize(
    "ways",
    [
        {},
        {"topics": ["a"], "whitelist": "a"},
        {"whitelist": "a", "blacklist": "b"},
        {"topics": ["a"], "streams": 0},
        {"topics": ["a"], "streams": MAX_THREADS + 1},
    ],
)
def test_exactly_one_way_to_subscribe(ways: dict[str, object]) -> None:
    with pytest.raises(LabError):
        build_subscription(**ways)  # type: ignore[arg-type]


def test_threads_of_a_group_are_sorted_as_strings() -> None:
    members = {
        "g_b": build_subscription(["orders"]),
        "g_a": build_subscription(whitelist="ord.*", streams=11),
    }
    threads = list_threads(members, TOPICS)
    assert threads.keys() == {"orders", "orders-eu"}
    assert threads["orders"][:4] == ["g_a-0", "g_a-1", "g_a-10", "g_a-2"]
    assert threads["orders"][-1] == "g_b-0"
    assert "g_b-0" not in threads["orders-eu"]


ODD_MEMBERS = {
    "no stream": Consumer(subscription={"orders": 0}),
    "less than none": Consumer(subscription={"orders": -1}),
    "none of one topic": Consumer(subscription={"orders": 1, "bills": 0}),
    "more than memory holds": Consumer(subscription={"orders": 2_000_000_000}),
    "more than memory holds, in sum": Consumer(
        subscription={f"t{number}": MAX_THREADS for number in range(20_000)}
    ),
    "a class that only Java knows": Consumer(pattern="white_list", subscription={r"\p{Alpha}+": 1}),
    "no regex": Consumer(pattern="black_list", subscription={"tmp(": 1}),
    "too large a number in a regex": Consumer(
        pattern="white_list", subscription={"a{99999999999999999999}": 1}
    ),
    "too deep a regex": Consumer(pattern="white_list", subscription={"(" * 9000 + ")" * 9000: 1}),
}


@pytest.mark.parametrize("odd", ODD_MEMBERS.values(), ids=ODD_MEMBERS.keys())
@pytest.mark.parametrize("strategy", ASSIGNORS)
def test_a_member_that_cannot_be_read_takes_nothing_and_stops_nobody(
    strategy: str, odd: Consumer
) -> None:
    members = {"g_a": build_subscription(["orders"]), "g_odd": odd}
    threads = list_threads(members, TOPICS)
    assert threads == {"orders": ["g_a-0"]}
    owners = ASSIGNORS[strategy](threads, {"orders": [0, 1]})
    assert owners == {("orders", 0): "g_a-0", ("orders", 1): "g_a-0"}
    assert list_threads({"g_odd": odd}, TOPICS) == {}
