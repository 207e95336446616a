"""What generated logs found in the fold of lag: small logs of each, cut anywhere, beside the
reference."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from streaming.fold.lag.fold import LagFold
from tests.reference.fold.offset_lag import fold_lag
from tests.reference.fold.pauses import fold_pauses
from tests.reference.fold.presence import follow
from tests.streaming.fold.driving import find_contexts, stream
from tests.streaming.fold.lag_log import LagLog
from tests.streaming.fold.test_group_law import Row, explain, make_lag, sort_rows
from zklake.events.envelope import Event, Frame, Stat
from zklake.events.samples import LogEnd, LogEnds, Round

TOPIC = "/brokers/topics/t"


def make_late_incarnation() -> list[Event]:
    """A superseded create, a commit, and a first read without data: then the topic comes anew."""
    log = LagLog()
    log.say("create", path=TOPIC, kind="topic", fidelity="superseded", stat=Stat(version=0))
    log.commit("g", 5)
    log.say("read", path=TOPIC, kind="topic", stat=Stat(czxid=90, mzxid=90, version=0))
    log.at(10).round({"t": 9})
    log.drop_topic("t")
    log.topic("t")
    log.at(20).round()
    return log.events


def make_end_in_a_gap() -> list[Event]:
    """A frame does not meet the offset; the next round comes in a gap, and ends no row of it."""
    log = LagLog()
    log.topic("t")
    log.offset("g", 5, op="create")
    log.at(10).round({"t": 9})
    log.say("frame_begin", path="/", frame=Frame("f"))
    log.topic("t", op="read")
    log.say("in_sync", path="/", frame=Frame("f", "none"))
    log.gap()
    log.at(20).round({"t": 9})
    log.commit("another", 1)
    log.say("in_sync", path="/", frame=Frame("h", "model"))
    log.at(30).round({"t": 9})
    return log.events


def make_topic_in_a_gap() -> list[Event]:
    """In a gap the topic comes anew, is sampled, and goes: what was committed may be its own."""
    log = LagLog()
    log.offset("g", 100, op="create")
    log.at(10).round({"t": 120})
    log.gap()
    log.topic("t")
    log.at(20).round({"t": 120})
    log.drop_topic("t")
    log.say("in_sync", path="/", frame=Frame("h", "model"))
    log.offset("g", 50)
    log.at(90).round({"t": 120})
    return log.events


LOGS = (make_late_incarnation, make_end_in_a_gap, make_topic_in_a_gap)


def expect(events: list[Event]) -> dict[str, list[Row]]:
    moments = follow(events, set())
    tables = fold_lag(moments)
    return {**tables, "consumption_pauses": fold_pauses(moments, tables["offset_lag"])}


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("make", LOGS)
def test_it_is_the_reference_at_any_cut(make: Callable[[], list[Event]], stops: bool) -> None:
    events = make()
    contexts, wanted = find_contexts(events), expect(events)
    for seed in range(40):
        got = stream(events, contexts, make_lag, LagFold.tables, Random(seed), stops=stops)
        for name in LagFold.tables:
            assert explain(sort_rows(got[name]), sort_rows(wanted[name])) is None, name


def test_the_logs_tell_what_they_are_about() -> None:
    late, gone, former = (expect(make())["offset_lag"] for make in LOGS)
    assert [row["reason"] for row in late] == [None, "other_incarnation"]
    assert [row["ended_by"] for row in gone if row["group_id"] == "g"] == ["resync"]
    assert [row["status"] for row in former][-1] == "REWIND"


def test_rows_that_one_round_began_have_one_order() -> None:
    """Two brokers answer for a partition: the lake may list the two rows either way."""
    log = LagLog()
    log.topic("t")
    round_ = Round(log.seq, brokers_answered=(2, 3))
    told = (LogEnd("t", 0, 3, 0, 250), LogEnd("t", 0, 2, 0, 120))
    log.say("log_ends", log_ends=LogEnds(told, round_))
    rows = expect(log.events)["log_ends"]
    assert [row["valid_from_seq"] for row in rows] == [2, 2]
    assert sort_rows(rows) == sort_rows(rows[::-1])
