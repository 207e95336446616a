"""What a round says of brokers that answered, failed, or have done neither yet."""

from __future__ import annotations

from typing import Any

from watcher.metrics import WatcherMetrics
from watcher.sampling.ends import BrokerAnswer, Layout
from watcher.sampling.requests import Answered, Asked
from watcher.sampling.round_writer import RoundWriter
from zklake.events.samples import BrokerFailure, LogEnd, LogEnds, Round

A, B, C = ("t", 0), ("t", 1), ("t", 2)
LAYOUT = Layout({A: 1, B: 2, C: 3}, {})
ASKED = Asked(7, 0.0)
ANSWER = Answered(ASKED, BrokerAnswer(1, [LogEnd(*A, 1, 0, 5)]))
FAILURE = Answered(ASKED, BrokerAnswer(3, [], BrokerFailure(3, "timed out")))


class Posted:
    """The core: it keeps what it is given."""

    def __init__(self) -> None:
        self.said: list[LogEnds] = []

    def post(self, samples: list[LogEnds]) -> bool:
        self.said += samples
        return True

    @property
    def last(self) -> Round:
        assert self.said[-1].round is not None
        return self.said[-1].round


def test_a_base_names_who_has_not_answered_yet() -> None:
    core: Any = Posted()
    metrics = WatcherMetrics()
    rounds = RoundWriter(core, metrics)
    rounds.emit_round(ASKED, LAYOUT, [ANSWER, FAILURE], {2})
    assert core.last.is_base
    assert core.last.brokers_answered == (1,)
    assert [each.broker_id for each in core.last.brokers_failed] == [3, 2]
    assert core.last.brokers_failed[1].reason == "no answer yet"
    # It may still answer.
    assert metrics.registry.get_sample_value("zklake_watcher_sample_broker_failures_total") == 1
    assert rounds.silence.brokers == {3}
    late = Answered(ASKED, BrokerAnswer(2, [LogEnd(*B, 2, 0, 6)]))
    rounds.emit_round(ASKED, LAYOUT, [late], {3})
    assert (core.last.is_base, core.last.brokers_failed) == (False, ())
    assert core.said[-1].partitions == (LogEnd(*B, 2, 0, 6),)


def test_after_a_base_each_broker_tells_all() -> None:
    core: Any = Posted()
    rounds = RoundWriter(core, WatcherMetrics())
    late = Answered(ASKED, BrokerAnswer(2, [LogEnd(*B, 2, 0, 6)]))
    rounds.emit_round(ASKED, LAYOUT, [ANSWER, late], set())
    rounds.start_over()
    rounds.emit_round(ASKED, LAYOUT, [ANSWER], {2})
    assert core.said[-1].partitions == (LogEnd(*A, 1, 0, 5),)
    rounds.emit_round(ASKED, LAYOUT, [late], set())
    assert core.said[-1].partitions == (LogEnd(*B, 2, 0, 6),)
