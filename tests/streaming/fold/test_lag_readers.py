"""Who reads a topic, and who may own its partitions: what UNOWNED, STOPPED and ABANDONED go by."""

from __future__ import annotations

import pytest

from tests.streaming.fold.lag_log import LagLog, working
from tests.streaming.fold.test_lag_status import DAY, status
from zklake.events.samples import Member, TopicPartitions


def drop_topic_from_subscription(log: LagLog, at_s: float = 15) -> None:
    """All members come back with another subscription, as after a deployment."""
    log.at(at_s).release("g")
    log.leave("g")
    log.join("g", "other")


def test_a_topic_that_the_group_no_longer_subscribes_to_is_not_unowned() -> None:
    log = working()
    drop_topic_from_subscription(log)
    log.at(100).round()
    assert status(log) == ("OK", 0)
    log.at(200).round({"t": 110})
    assert status(log) == ("STOPPED", 200)
    log.at(15 + 7 * DAY - 1).round()
    assert status(log) == ("STOPPED", 200)
    log.at(15 + 7 * DAY).round()
    assert status(log) == ("ABANDONED", 15)


def test_a_topic_that_is_subscribed_to_again_is_unowned_only_since_then() -> None:
    log = working()
    drop_topic_from_subscription(log)
    log.at(100).join("g", "t", member="n")
    log.at(105).round()
    assert status(log) == ("OK", 0)
    log.at(110).round()
    assert status(log) == ("UNOWNED", 100)
    log.claim("g", owner="n-0")
    log.at(120).round()
    assert status(log) == ("OK", 120)


def test_a_group_that_returns_has_time_to_claim() -> None:
    log = working()
    log.at(15).release("g")
    log.leave("g")
    log.at(100).join("g")
    log.at(101).round()
    assert status(log) == ("OK", 0)
    log.at(110).round()
    assert status(log) == ("UNOWNED", 100)


@pytest.mark.parametrize(
    ("subscription", "pattern", "is_unowned"),
    [
        ("t|u", "white_list", True),
        ("u", "white_list", False),
        ("u", "black_list", True),
        ("t", "black_list", False),
        # Nobody can say what it takes in.
        (r"(t)\\1?", "white_list", True),
    ],
)
def test_wildcards_take_topics_in(subscription: str, pattern: str, is_unowned: bool) -> None:
    log = working()
    log.at(15).release("g")
    log.leave("g")
    log.join("g", subscription, pattern)
    log.at(25).round()
    assert status(log) == (("UNOWNED", 15) if is_unowned else ("OK", 0))


def assigned(name: str, topic: str | None = "t") -> Member:
    taken = () if topic is None else (TopicPartitions(topic, (0,)),)
    return Member(name, subscription=("t",), assignment=taken)


def kafka_working() -> LagLog:
    log = LagLog()
    log.state("k", assigned("a"))
    log.commit("k", 10)
    log.round({"t": 10}, is_base=True)
    return log


def test_a_kafka_group_says_what_it_subscribes_to() -> None:
    log = kafka_working()
    log.at(15).state("k", assigned("a", None))
    log.at(25).round()
    assert status(log, "k", "kafka") == ("UNOWNED", 15)
    log.at(30).state("k", Member("a", subscription=("u",), assignment=()))
    log.at(40).round({"t": 20})
    assert status(log, "k", "kafka") == ("STOPPED", 40)


def test_a_group_too_large_to_be_told_is_neither_unowned_nor_stopped() -> None:
    log = kafka_working()
    log.at(15).state("k", *map(assigned, "ab"), is_told=False)
    log.at(100).round({"t": 20})
    assert (log.lag("k", "kafka")["owner"], *status(log, "k", "kafka")) == (None, "OK", 0)
    log.at(110).state("k", assigned("a", None))
    log.at(119).round()
    assert status(log, "k", "kafka") == ("OK", 0)
    log.at(120).round()
    assert status(log, "k", "kafka") == ("UNOWNED", 110)


def test_a_group_of_whose_assignments_one_could_not_be_read_is_not_unowned() -> None:
    log = kafka_working()
    log.at(15).state("k", assigned("a", None), Member("b"))
    log.at(100).round()
    assert status(log, "k", "kafka") == ("OK", 0)
    log.at(110).state("k", assigned("a", None), assigned("b", None))
    log.at(120).round()
    assert status(log, "k", "kafka") == ("UNOWNED", 110)
