from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from watcher.sampling.brokers import _explain
from watcher.sampling.ends import GONE, NO_LEADER, BrokerAnswer, Ends, Layout, judge
from zklake.events.samples import BrokerFailure, LogEnd

A, B = ("orders", 0), ("orders", 1)


def test_only_what_differs_is_news() -> None:
    ends = Ends()
    first = [LogEnd(*A, 1, 0, 10), LogEnd(*B, 2, 0, 5)]
    assert ends.differ(first) == first
    assert ends.differ(first) == []
    moved = LogEnd(*B, 1, 0, 5)
    assert ends.differ([first[0], moved]) == [moved], "another leader is news: it confirms others"
    trimmed = LogEnd(*A, 1, 3, 10)
    assert ends.differ([trimmed]) == [trimmed]
    shrunk = LogEnd(*A, 1, 0, 4)
    assert ends.differ([shrunk]) == [shrunk], "an end may go back: an unclean election, a new topic"


def test_what_has_no_leader_or_is_gone_is_said_once() -> None:
    ends = Ends()
    ends.differ([LogEnd(*A, 1, 0, 10), LogEnd(*B, 2, 0, 5)])
    lost = Layout({A: 1, B: -1}, {})
    assert ends.compare_layout(lost) == [LogEnd(*B, error=NO_LEADER)]
    assert ends.compare_layout(lost) == []
    assert ends.differ([LogEnd(*B, 2, 0, 5)]) == [LogEnd(*B, 2, 0, 5)], "back with equal offsets"
    assert ends.compare_layout(Layout({B: 2}, {})) == [LogEnd(*A, error=GONE)]
    assert len(ends) == 1


def test_each_leader_is_asked_for_its_own_partitions() -> None:
    layout = Layout({A: 1, B: 2, ("bills", 0): 1, ("bills", 1): -1}, {0: 1, 1: 2, 2: -1})
    assert layout.by_leader() == {1: [A, ("bills", 0)], 2: [B]}
    assert layout.count_silent_groups({2}) == 2
    assert layout.count_silent_groups(()) == 1


def test_a_broker_that_answers_for_nothing_has_failed() -> None:
    lost = [LogEnd(*A, 1, error="_TIMED_OUT"), LogEnd(*B, 1, error="_TIMED_OUT")]
    assert judge(1, lost, "timed out") == BrokerAnswer(1, [], BrokerFailure(1, "timed out"))
    mixed = [LogEnd(*A, 1, 0, 1), LogEnd(*B, 1, error="NOT_LEADER_FOR_PARTITION")]
    assert judge(1, mixed, "moved") == BrokerAnswer(1, mixed)
    assert judge(1, [], "") == BrokerAnswer(1, [])


def test_a_broker_that_is_too_old_to_be_asked_says_so_of_its_partitions() -> None:
    refused = KafkaException(KafkaError(KafkaError._UNSUPPORTED_FEATURE))
    word, reason = _explain(refused)
    old = [LogEnd(*A, 1, error=word), LogEnd(*B, 1, error=word)]
    assert judge(1, old, reason) == BrokerAnswer(1, old, BrokerFailure(1, reason))
    assert (word, "not supported" in reason) == ("UNSUPPORTED_VERSION", True)
